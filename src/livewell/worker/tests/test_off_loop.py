"""Handlers beside the loop: in a thread or a process, bounded, stopped as far as they can be, and one failing alone."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
import pytest_asyncio

from livewell import Livewell, OffLoopContext
from livewell.kernel import Database
from livewell.testing import child, until
from livewell.worker import BadHandler, RunsIn
from livewell.worker.tests import heavy
from livewell.worker.tests.running import QUICK, outcomes, running, until_state

ONCE = timedelta(milliseconds=1)
BRISK = replace(QUICK, heartbeat_interval=timedelta(milliseconds=50), processes=2)
places = pytest.mark.parametrize("place", ["thread", "process"])


class Held:
    """A handler that waits in a thread or a process: told by pipes that it has begun, and when to go on."""

    def __init__(self, folder: Path, name: str) -> None:
        self.begun, self.go = folder / f"{name}-begun", folder / f"{name}-go"
        for pipe in (self.begun, self.go):
            os.mkfifo(pipe)

    @property
    def payload(self) -> dict[str, str]:
        return {"begun": str(self.begun), "go": str(self.go)}

    async def has_begun(self) -> int:
        """The process it runs in."""
        return int(await asyncio.to_thread(self.begun.read_text))

    async def let_go(self) -> None:
        await asyncio.to_thread(self.go.write_text, "go")


@pytest_asyncio.fixture
async def app(database_url: str) -> AsyncIterator[Livewell]:
    async with Livewell(database_url) as application:
        yield application


async def declared(app: Livewell) -> None:
    await app.jobs.declare_kinds((handler.declaration for handler in app.handlers.values()), actor="test")


async def gone(pid: int) -> None:
    async def is_gone() -> bool:
        return not psutil.pid_exists(pid)

    await until(is_gone, f"process {pid} is gone")


@places
async def test_payload_context_and_result(app: Livewell, place: Any) -> None:
    """A plain function is given its payload as its model, and a context; what it returns is its job's outcome."""
    app.job("add", runs_in=place)(heavy.add)
    app.job("introduce", runs_in=place)(heavy.introduce)
    await declared(app)
    async with running(app):
        added = await app.enqueue(heavy.Sum(numbers=[1, 2, 3]))
        named = await app.enqueue("introduce", {"again": True})
        result = (await until_state(app, added.job_id, "completed"))["result"]
        told = (await until_state(app, named.job_id, "completed"))["result"]
    assert result["sum"] == 6
    assert (result["pid"] == os.getpid()) == (place == "thread")
    assert told == {"job": named.job_id, "attempt": 2, "key": f"livewell-job-{named.job_id}", "stopped": False}
    assert await outcomes(app, named.job_id) == ["rescheduled", "completed"]


@places
async def test_the_loop_goes_on(app: Livewell, owner: Database, tmp_path: Path, place: Any) -> None:
    """While a handler is held up beside the loop its lease is renewed, and other jobs are done."""
    app.job("hold", runs_in=place)(heavy.hold)

    @app.job("light")
    async def light(job: dict[str, int]) -> None:
        pass

    await declared(app)
    held = Held(tmp_path, "one")
    async with running(app, BRISK):
        job = await app.enqueue("hold", held.payload)
        await held.has_begun()
        asked = "select lease_until from livewell_private.job_live where id = $1"
        first = await owner.fetchval(asked, job.job_id)

        async def is_renewed() -> bool:
            return bool(await owner.fetchval(asked, job.job_id) > first)

        await until(is_renewed, "the lease is renewed")
        await until_state(app, (await app.enqueue("light", {"n": 1})).job_id, "completed")
        await held.let_go()
        assert (await until_state(app, job.job_id, "completed"))["result"]["heard"] == 2


@places
@pytest.mark.parametrize(
    ("how", "kind", "message"),
    [
        ("raise", "livewell.worker.tests.heavy.Misfortune", "no luck in town"),
        ("exit", "SystemExit", "3"),
        ("stop", None, "enough"),
    ],
)
async def test_errors_keep_their_type_and_message(
    app: Livewell, place: Any, how: str, kind: str | None, message: str
) -> None:
    """Whatever a handler raises beside the loop fails its job with its type, its text and where it was raised."""
    app.job("fail", runs_in=place, retries=0)(heavy.fail)
    await declared(app)
    async with running(app):
        enqueued = await app.enqueue("fail", {"how": how})
        error = (await until_state(app, enqueued.job_id, "failed"))["error"]
    assert kind is None or error["type"] == kind
    assert message in error["message"]
    assert any(frame.startswith("heavy.py:") and frame.endswith(" fail") for frame in error["frames"]) or how == "stop"


@places
async def test_a_deadlock_is_not_the_jobs_failure(app: Livewell, place: Any) -> None:
    """Contention beside the loop resets the job, as it does in the loop."""
    app.job("fail", runs_in=place, retries=0)(heavy.fail)
    await declared(app)
    async with running(app):
        enqueued = await app.enqueue("fail", {"how": "deadlock"})

        async def was_reset() -> bool:
            return "reset" in await outcomes(app, enqueued.job_id)

        await until(was_reset, "the job is reset")
        await app.jobs.cancel_jobs([enqueued.job_id], reason=None, actor="tests")
        await until_state(app, enqueued.job_id, "cancelled", "failed")


async def test_what_cannot_come_back_fails_its_job(app: Livewell) -> None:
    """A result that no process can send is told as such; the process is used again."""
    app.job("fail", runs_in="process", retries=0)(heavy.fail)
    app.job("add", runs_in="process")(heavy.add)
    await declared(app)
    async with running(app, replace(BRISK, processes=1)):
        before = await app.enqueue(heavy.Sum(numbers=[1]))
        first = (await until_state(app, before.job_id, "completed"))["result"]
        enqueued = await app.enqueue("fail", {"how": "file"})
        assert "pickle" in (await until_state(app, enqueued.job_id, "failed"))["reason"]
        after = await app.enqueue(heavy.Sum(numbers=[1]))
        assert (await until_state(app, after.job_id, "completed"))["result"] == first


async def test_a_process_that_dies_fails_its_job_alone(app: Livewell, tmp_path: Path) -> None:
    """Killed or gone by itself, it fails the job it ran, by name; its neighbour goes on, and so does the pool."""
    app.job("hold", runs_in="process", retries=0)(heavy.hold)
    app.job("fail", runs_in="process", retries=0)(heavy.fail)
    await declared(app)
    killed, spared = Held(tmp_path, "killed"), Held(tmp_path, "spared")
    async with running(app, BRISK):
        first = await app.enqueue("hold", killed.payload)
        second = await app.enqueue("hold", spared.payload)
        pid, other = await killed.has_begun(), await spared.has_begun()
        os.kill(pid, 9)
        assert "SIGKILL" in (await until_state(app, first.job_id, "failed"))["reason"]
        third = await app.enqueue("fail", {"how": "die"})
        job = await until_state(app, third.job_id, "failed")
        assert job["error"]["type"] == "livewell.worker.errors.ProcessDied"
        assert "exit code 7" in job["reason"]
        await spared.let_go()
        assert (await until_state(app, second.job_id, "completed"))["result"]["pid"] == other


async def test_a_process_is_ended_with_its_job(app: Livewell, tmp_path: Path) -> None:
    """One whose job was cancelled, or is over its time, is killed, and its place is free again."""
    app.job("hold", runs_in="process", retries=0)(heavy.hold)
    app.job("short", runs_in="process", retries=0, time_limit=timedelta(milliseconds=500))(heavy.hold)
    app.job("add", runs_in="process")(heavy.add)
    await declared(app)
    cancelled, overdue = Held(tmp_path, "cancelled"), Held(tmp_path, "overdue")
    async with running(app, replace(BRISK, processes=1)):
        job = await app.enqueue("hold", cancelled.payload)
        pid = await cancelled.has_begun()
        await app.jobs.cancel_jobs([job.job_id], reason="enough", actor="tests")
        await until_state(app, job.job_id, "cancelled")
        await gone(pid)
        job = await app.enqueue("short", overdue.payload)
        assert "time limit" in (await until_state(app, job.job_id, "failed"))["reason"]
        added = await app.enqueue(heavy.Sum(numbers=[1]))
        await until_state(app, added.job_id, "completed")


async def test_a_thread_is_left_behind_by_its_job(app: Livewell) -> None:
    """Its job ends at once and it is told; what it brings later is dropped, and its place is taken until it ends."""
    begun, told, go = threading.Event(), threading.Event(), threading.Event()

    @app.job("hold", runs_in="thread")
    def hold(job: dict[str, int], ctx: OffLoopContext) -> str:
        begun.set()
        while not ctx.is_stopped():
            told.wait(0.01)
        told.set()
        go.wait(20)
        return "too late"

    @app.job("next", runs_in="thread")
    def after(job: dict[str, int]) -> str:
        return "after" if go.is_set() else "beside"

    await declared(app)
    async with running(app, replace(BRISK, threads=1)):
        job = await app.enqueue("hold", {"n": 1})
        await asyncio.to_thread(begun.wait, 20)
        await app.jobs.cancel_jobs([job.job_id], reason="enough", actor="tests")
        await until_state(app, job.job_id, "cancelled")
        waiting = await app.enqueue("next", {"n": 1})
        await until_state(app, waiting.job_id, "processing")
        assert await asyncio.to_thread(told.wait, 20)
        go.set()
        assert (await until_state(app, waiting.job_id, "completed"))["result"] == "after"
    assert (await app.jobs.show_job(job.job_id))["result"] is None


async def test_a_worker_drains_beside_a_thread_that_never_ends(app: Livewell) -> None:
    """What was left behind keeps neither the worker nor the program from ending."""
    begun, never = threading.Event(), threading.Event()

    @app.job("hold", runs_in="thread")
    def hold(job: dict[str, int]) -> None:
        begun.set()
        never.wait()

    await declared(app)
    async with running(app, BRISK):
        job = await app.enqueue("hold", {"n": 1})
        await asyncio.to_thread(begun.wait, 20)
        await app.jobs.cancel_jobs([job.job_id], reason=None, actor="tests")
        await until_state(app, job.job_id, "cancelled")
    assert any(thread.name == "livewell-off-loop" and thread.daemon for thread in threading.enumerate())
    never.set()


async def test_threads_are_bounded(app: Livewell) -> None:
    """No more handlers run in threads at once than there are places for them; the others wait in their slots."""
    go, counting = threading.Event(), threading.Lock()
    running_now, most = 0, 0

    @app.job("count", runs_in="thread")
    def count(job: dict[str, int]) -> None:
        nonlocal running_now, most
        with counting:
            running_now += 1
            most = max(most, running_now)
        go.wait(20)
        with counting:
            running_now -= 1

    @app.job("light", priority=-1)
    async def light(job: dict[str, int]) -> None:
        pass

    await declared(app)
    async with running(app, replace(BRISK, threads=2, concurrency=7)):
        jobs = [await app.enqueue("count", {"n": n}) for n in range(6)]
        for job in jobs:
            await until_state(app, job.job_id, "processing")
        await until_state(app, (await app.enqueue("light", {"n": 1})).job_id, "completed")
        go.set()
        for job in jobs:
            await until_state(app, job.job_id, "completed")
    assert most == 2


async def test_processes_are_begun_when_needed_kept_and_ended(app: Livewell) -> None:
    """None before the first job; the same for the next one; none after the worker."""
    app.job("add", runs_in="process")(heavy.add)
    await declared(app)
    mine = psutil.Process()
    async with running(app, replace(BRISK, processes=1)):
        assert not [
            child_process for child_process in mine.children() if "spawn_main" in " ".join(child_process.cmdline())
        ]
        pids = set()
        for n in range(3):
            job = await app.enqueue(heavy.Sum(numbers=[n]))
            pids.add((await until_state(app, job.job_id, "completed"))["result"]["pid"])
    (pid,) = pids
    await gone(pid)


ORPHAN = """
import threading
from livewell.worker.children import Child
from livewell.worker.tests import heavy

one, payload = Child(), {"begun": sys.argv[1], "go": sys.argv[2]}
threading.Thread(target=one.call, args=(heavy.hold, (payload,)), daemon=True).start()
asyncio.run(told())
"""


@pytest.mark.parametrize("end", ["killed", "ended"])
async def test_a_process_does_not_outlive_its_worker(tmp_path: Path, end: str) -> None:
    """A worker that is killed, or ends without a word, takes its processes with it, whatever they are at."""
    held = Held(tmp_path, "orphan")
    async with child(ORPHAN, held.begun, held.go) as parent:
        pid = await held.has_begun()
        if end == "killed":
            await parent.kill()
        else:
            parent.tell("end")
            assert await parent.ended() == 0
        await gone(pid)


def test_handlers_that_cannot_run_there(database_url: str) -> None:
    """An async function beside the loop, a plain one in it, one no process finds, and a place that is none: refused."""
    app = Livewell(database_url)

    async def slow(job: dict[str, int]) -> None: ...

    def plain(job: dict[str, int]) -> None: ...

    places: tuple[RunsIn, ...] = ("thread", "process")
    for place in places:
        with pytest.raises(BadHandler, match="must be a plain function"):
            app.job("x", runs_in=place)(slow)
    with pytest.raises(BadHandler, match=r"must be an async function.*runs_in"):
        app.job("x")(plain)
    with pytest.raises(BadHandler, match="cannot find"):
        app.job("x", runs_in="process")(plain)
    with pytest.raises(BadHandler, match="cannot run in 'fibre'"):
        app.job("x", runs_in="fibre")(plain)  # type: ignore[arg-type]
