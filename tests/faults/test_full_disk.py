"""F13: the disk of the database is full: calls are refused with a fact, and all goes on when there is room again."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from livewell.kernel import DatabaseUnavailable, DiskFull, LivewellError
from livewell.testing import OwnServer, SmallDisk, small_disk, until
from tests.faults.load import BeginRun, Run
from tests.faults.returns import all_answered, started_again, whole_pools
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

# A new server takes about 80 MB; the rest is what a run may write before the disk is filled from outside.
MEGABYTES = 256
SETTINGS = {"shared_buffers": "32MB", "min_wal_size": "32MB", "max_wal_size": "48MB"}
# How often a worker may say that the disk is full in one outage: once for each of its parts, not once per call.
LINES = 10


@pytest.fixture
def disk(own_folder: Path) -> Iterator[SmallDisk]:
    with small_disk(own_folder, MEGABYTES) as mounted:
        yield mounted


@pytest_asyncio.fixture
async def server(disk: SmallDisk) -> AsyncIterator[OwnServer]:
    """A durable server of this test's own, on a disk that can be filled."""
    begun = await OwnServer.begin(disk.folder / "server", SETTINGS)
    yield begun
    disk.free()
    await begun.embedded.stop(mode="immediate")


@pytest_asyncio.fixture
async def full_run(server: OwnServer, begin_run: BeginRun) -> AsyncIterator[Run]:
    """A run whose workers may lose what they cannot renew."""
    async with begin_run(owner_url=server.owner_url, url=server.database_url) as run:
        run.terms = replace(run.terms, cut_off_may_lose=True)
        yield run


async def test_f13_a_full_disk_is_refused_and_outlasted(
    full_run: Run, server: OwnServer, disk: SmallDisk, size: Size
) -> None:
    """F13: with no room calls are refused with a fact and change nothing; with room again the same processes go on."""
    run = full_run
    workers = await run.start_workers(size.workers)
    await run.start_producer()
    outages = 0
    for _ in size.lasting():
        await run.seen("acknowledged", len(run.events("acknowledged")) + 20)
        await _full_until_refused(run, disk, lasting=run.chance.uniform(0, size.longest_outage))
        outages += 1
        disk.free()
        await started_again(server)
        await all_answered(run)
    assert run.living() == workers
    await whole_pools(run)
    await run.passes()
    _refused_with_facts(run)
    await _nothing_half_done(run)
    for member in workers:
        lines = [line for line in run.log_of(member.name).splitlines() if DiskFull.code in line]
        assert len(lines) <= LINES * outages, "\n".join(lines[-20:])


async def test_f13_a_server_that_gave_up_for_lack_of_room_starts_again(
    full_run: Run, server: OwnServer, disk: SmallDisk
) -> None:
    """F13: a server that panics because its log has no room starts again with all that it acknowledged."""
    run = full_run
    await run.start_workers(2)
    await run.start_producer()
    await run.seen("acknowledged", 50)
    disk.fill()
    await _until_panic(run, server, disk)
    disk.free()
    await started_again(server)
    acknowledged = len(run.events("acknowledged"))
    await run.seen("acknowledged", acknowledged + 20)
    await run.passes()
    _refused_with_facts(run)
    await _nothing_half_done(run)


async def _full_until_refused(run: Run, disk: SmallDisk, *, lasting: float) -> None:
    """Keep the disk full until calls have been refused, and as much longer as told."""
    refused = len(run.events("unanswered"))
    run.book.note("disk_full")

    async def told() -> bool:
        disk.fill()
        return len(run.events("unanswered")) > refused

    await until(told, "a producer is refused", within=timedelta(seconds=60))
    ends = time.monotonic() + lasting
    while time.monotonic() < ends:
        disk.fill()
        await asyncio.sleep(0.1)


async def _until_panic(run: Run, server: OwnServer, disk: SmallDisk) -> None:
    """Use up the segments of the server's log that are there already."""

    async def panicked() -> bool:
        disk.fill()
        with suppress(LivewellError):
            await run.owner.execute("select pg_logical_emit_message(false, 'faults', repeat('x', 1000000))")
            await run.owner.execute("select pg_switch_wal()")
        return "PANIC:" in await asyncio.to_thread(_log_of, server)

    await until(panicked, "the server panics", within=timedelta(seconds=60))


def _log_of(server: OwnServer) -> str:
    folder = Path(server.owner_url.partition("host=")[2].partition("&")[0]).parent
    return (folder / "server.log").read_text(encoding="utf-8", errors="replace")


def _refused_with_facts(run: Run) -> None:
    """Whoever was refused was told why, and nobody was surprised by it."""
    told = Counter(event["code"] for event in run.events("unanswered", "call_failed"))
    run.figures["refused"] = dict(told)
    assert set(told) <= {DiskFull.code, DatabaseUnavailable.code}, told
    for name in (*run.workers, *run.producers):
        assert "Traceback" not in run.log_of(name), f"{name}:\n{run.log_of(name)[-3000:]}"


async def _nothing_half_done(run: Run) -> None:
    """Whatever was offered is there once, however often it was refused before."""
    offered = {key for event in run.events("offered") for key in event["keys"]}
    rows = Counter(job.dedupe_key for job in (await run.snapshot()).jobs)
    assert rows == dict.fromkeys(offered, 1)
