"""Sealing: every committed entry exactly once, one sealer at a time, and no writer waits."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from livewell.audit import (
    AuditStore,
    NewEntry,
    NothingToSeal,
    Sealed,
    Sealer,
    SealerBusy,
    SealOutcome,
    Verifier,
)
from livewell.kernel import Database, DatabaseOptions
from livewell.testing import OwnServer, connected, until

Opened = "asyncpg.Connection[asyncpg.Record]"
EVENT = NewEntry(event="kind_paused")
SEALED_IDS = (
    "select i from livewell_private.audit_seal s, unnest(s.members) r, generate_series(lower(r), upper(r) - 1) i"
)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Any]:
    """A connection with a transaction under way, which the test ends by a statement of its own."""
    async with connected(url) as connection:
        await connection.execute("begin")
        yield connection


async def sealed_ids(owner: Database) -> list[int]:
    return [row["i"] for row in await owner.fetch(f"{SEALED_IDS} order by s.number, i")]


async def open_ids(owner: Database) -> str:
    found: str = await owner.fetchval(
        "select open_ids::text from livewell_private.audit_seal order by number desc limit 1"
    )
    return found


async def test_each_seal_follows_the_one_before(store: AuditStore, owner: Database) -> None:
    """Rounds make a chain of numbered seals; a round with nothing new adds none."""
    await store.write_entries([EVENT] * 3)
    first = await store.seal_entries(10)
    await store.write_entries([EVENT])
    second = await store.seal_entries(10)
    assert isinstance(first, Sealed)
    assert isinstance(second, Sealed)
    assert await store.seal_entries(10) == NothingToSeal(head=second.head)
    rows = await owner.fetch(
        "select number, entries, previous_hash, hash from livewell_private.audit_seal order by number"
    )
    assert [(row["number"], row["entries"]) for row in rows] == [(1, 3), (2, 1)]
    assert [row["hash"].hex() for row in rows] == [first.head.hash, second.head.hash]
    assert rows[1]["previous_hash"] == rows[0]["hash"]


async def test_a_late_commit_of_an_early_id_is_sealed_later(
    store: AuditStore, owner: Database, database_url: str
) -> None:
    """An entry whose transaction is still open when later ids are sealed is not lost: it comes in the next seal."""
    async with opened(database_url) as late:
        (early_id,) = await AuditStore(late).write_entries([EVENT])
        later_ids = await store.write_entries([EVENT] * 2)
        await store.seal_entries(10)
        assert await sealed_ids(owner) == later_ids
        assert await open_ids(owner) == f"{{[{early_id},{early_id + 1})}}"
        await store.write_entries([EVENT])
        await store.seal_entries(10)
        await late.execute("commit")
    verification = await Verifier(store).run()
    assert (verification.findings, verification.unsealed_entries) == ((), 1)
    await store.seal_entries(10)
    assert sorted(await sealed_ids(owner)) == [1, 2, 3, 4]
    assert await open_ids(owner) == "{}"
    assert (await Verifier(store).run()).intact


async def test_an_open_transaction_holds_up_nobody_else(store: AuditStore, owner: Database, owner_url: str) -> None:
    """A transaction left open anywhere on the server delays no seal but that of its own entries."""
    async with opened(owner_url) as idle:
        await idle.execute("create table public.somebody_elses (n integer)")
        await store.write_entries([EVENT])
        assert isinstance(await store.seal_entries(10), Sealed)
        await idle.execute("rollback")
    assert (await store.read_state()).unsealed_entries == 0


async def test_an_id_stays_open_while_its_transaction_may_commit(
    store: AuditStore, owner: Database, database_url: str, owner_url: str
) -> None:
    """A gap is closed only when whoever could fill it has ended, also one that began after its neighbours."""
    async with opened(owner_url) as elder, opened(database_url) as late:
        await elder.execute("select pg_current_xact_id()")
        (early_id,) = await AuditStore(late).write_entries([EVENT])
        await elder.execute('select livewell.audit_write(\'[{"event": "kind_paused"}]\')')
        await elder.execute("commit")
        for _ in range(3):
            await store.seal_entries(10)
            assert early_id in range(*_bounds(await open_ids(owner)))
            await store.write_entries([EVENT])
        await late.execute("commit")
    await store.seal_entries(10)
    assert early_id in await sealed_ids(owner)
    assert (await Verifier(store).run()).intact


def _bounds(multirange: str) -> tuple[int, int]:
    first, _, after = multirange.strip("{[)}").partition(",")
    return (int(first), int(after)) if after else (0, 0)


async def test_a_gap_left_by_a_rollback_is_closed(store: AuditStore, owner: Database, database_url: str) -> None:
    """An id nobody can own any more is dropped from what is open, so that an entry put there later is found."""
    async with opened(database_url) as undone:
        (gone,) = await AuditStore(undone).write_entries([EVENT])
        await store.write_entries([EVENT])
        await store.seal_entries(10)
        await undone.execute("rollback")
    assert await open_ids(owner) == f"{{[{gone},{gone + 1})}}"
    await until(lambda: _nothing_is_open(store, owner), "no transaction on the server is older than the gap")
    assert gone not in await sealed_ids(owner)


async def _nothing_is_open(store: AuditStore, owner: Database) -> bool:
    await store.write_entries([EVENT])
    await store.seal_entries(10)
    return await open_ids(owner) == "{}"


async def test_a_small_batch_leaves_the_rest_for_the_next(
    store: AuditStore, owner: Database, database_url: str
) -> None:
    """With a limit, open ids come first, nothing beyond the limit is skipped, and gaps not reached stay open."""
    async with opened(database_url) as first, opened(database_url) as second:
        early = [*await AuditStore(first).write_entries([EVENT]), *await AuditStore(second).write_entries([EVENT])]
        await store.write_entries([EVENT] * 3)
        await store.seal_entries(10)
        await first.execute("commit")
        await second.execute("commit")
    late = await store.write_entries([EVENT] * 2)
    seen = []
    for _ in range(4):
        await store.seal_entries(1)
        seen.append((await sealed_ids(owner))[-1])
    assert seen == [*early, *late]
    assert await store.seal_entries(1) == NothingToSeal(head=(await store.read_state()).head)
    assert (await Verifier(store).run()).intact


async def test_a_second_sealer_is_told_and_writers_go_on(store: AuditStore, database_url: str) -> None:
    """While one sealer is under way another is told so at once, and writers write and commit."""
    await store.write_entries([EVENT])
    async with opened(database_url) as sealing:
        assert isinstance(await AuditStore(sealing).seal_entries(10), Sealed)
        async with asyncio.timeout(5):
            assert await store.seal_entries(10) == SealerBusy()
            assert await Sealer(store).run_once() == SealerBusy()
            await store.write_entries([EVENT])
        await sealing.execute("commit")
    outcome = await store.seal_entries(10)
    assert isinstance(outcome, Sealed)
    assert (outcome.head.number, outcome.entries) == (2, 1)


async def test_sealing_inside_a_written_transaction_closes_no_gap_too_early(
    store: AuditStore, owner: Database, database_url: str, owner_url: str
) -> None:
    """A seal made in a transaction older than a writer still open leaves that writer's id open all the same."""
    async with opened(owner_url) as sealing, opened(database_url) as late:
        await sealing.execute("select pg_current_xact_id()")
        (early_id,) = await AuditStore(late).write_entries([EVENT])
        await store.write_entries([EVENT])
        assert isinstance(await AuditStore(sealing).seal_entries(10), Sealed)
        await sealing.execute("commit")
        for _ in range(3):
            await store.write_entries([EVENT])
            await store.seal_entries(10)
            assert early_id in range(*_bounds(await open_ids(owner)))
        await late.execute("commit")
    await store.seal_entries(10)
    assert early_id in await sealed_ids(owner)
    assert (await Verifier(store).run()).intact


async def test_a_sealer_cut_off_halfway_leaves_nothing(store: AuditStore, owner: Database, database_url: str) -> None:
    """A sealer that dies before its commit has sealed nothing, and its lock dies with it."""
    await store.write_entries([EVENT] * 2)
    async with opened(database_url) as sealing:
        await AuditStore(sealing).seal_entries(10)
        pid = sealing.get_server_pid()
        sealing.terminate()
        await until(lambda: _is_gone(owner, pid), "the server has noticed")
    outcome = await store.seal_entries(10)
    assert isinstance(outcome, Sealed)
    assert (outcome.head.number, outcome.entries) == (1, 2)
    assert (await Verifier(store).run()).intact


async def _is_gone(owner: Database, pid: int) -> bool:
    return not await owner.fetchval("select count(*) from pg_stat_activity where pid = $1", pid)


async def test_a_server_that_crashes_during_a_seal_loses_nothing(own_server: OwnServer) -> None:
    """After a crash every committed entry is there, unsealed ones are sealed, and the chain is whole."""
    async with await Database.open(DatabaseOptions(url=own_server.database_url)) as database:
        store = AuditStore(database)
        await store.write_entries([EVENT] * 2)
        await store.seal_entries(10)
        await store.write_entries([EVENT])
        sealing = await asyncpg.connect(own_server.database_url)
        await sealing.execute("begin")
        await AuditStore(sealing).seal_entries(10)
        await own_server.stop_at_once()
        sealing.terminate()
        await own_server.start()
    async with await Database.open(DatabaseOptions(url=own_server.database_url)) as database:
        store = AuditStore(database)
        outcome = await store.seal_entries(10)
        assert isinstance(outcome, Sealed)
        assert (outcome.head.number, outcome.entries) == (2, 1)
        assert (await Verifier(store).run()).intact


async def _write(url: str, seed: int, committed: list[int]) -> None:
    """Transactions of one to three entries, held open for some round trips, a fifth of them rolled back."""
    chance = random.Random(seed)
    async with connected(url) as connection:
        for _ in range(40):
            await connection.execute("begin")
            ids = await AuditStore(connection).write_entries([EVENT] * chance.randint(1, 3))
            for _ in range(chance.randint(0, 8)):
                await connection.execute("select 1")
            kept = chance.random() > 0.2
            await connection.execute("commit" if kept else "rollback")
            committed += ids if kept else []


async def _seal(url: str, writers: "list[asyncio.Task[None]]") -> list[SealOutcome]:
    outcomes: list[SealOutcome] = []
    async with connected(url) as connection:
        while not all(writer.done() for writer in writers):
            outcomes.append(await AuditStore(connection).seal_entries(7))
    return outcomes


async def test_eight_writers_and_two_sealers_skip_nothing(
    store: AuditStore, owner: Database, database_url: str
) -> None:
    """Under concurrent writers that hold their transactions, every committed entry is sealed once and no other."""
    committed: list[int] = []
    writers = [asyncio.create_task(_write(database_url, seed, committed)) for seed in range(8)]
    outcomes = [*await asyncio.gather(*(_seal(database_url, writers) for _ in range(2)), *writers)][:2]
    while not isinstance(await store.seal_entries(50), NothingToSeal):
        pass
    ids = await sealed_ids(owner)
    assert sorted(ids) == sorted(committed)
    assert len(ids) == len(set(ids))
    assert sum(isinstance(outcome, Sealed) for outcome in [*(outcomes[0] or []), *(outcomes[1] or [])]) > 5
    assert (await Verifier(store).run()).intact


async def test_the_sealer_works_off_a_backlog_in_batches(store: AuditStore) -> None:
    """One round seals all there is, a batch per seal, and no more batches than it may."""
    await store.write_entries([EVENT] * 25)
    outcome = await Sealer(store, batch=10, batches=2).run_once()
    assert isinstance(outcome, Sealed)
    assert outcome.head.number == 2
    assert (await store.read_state()).unsealed_entries == 5
    await Sealer(store, batch=10).run_once()
    state = await store.read_state()
    assert (state.head.number, state.sealed_entries, state.unsealed_entries) == (3, 25, 0)
