"""Tasks on many nodes: real processes that race, are killed, paused past their leases, and have wrong clocks.

Each run of a handler is noted outside the database, in a file that all nodes append to: what started is seen even when
its node is gone. An epoch is the number of a run, given out with its lease.
"""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from livewell.kernel import Database
from livewell.testing import Child, child, until
from tests.faults.skew import skewed

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

NODES = 8
RACES = 1000
LONG = timedelta(seconds=120)
# Every node declares all tasks; a handler notes that it began, works for a while, and notes that it ended.
PROGRAM = """
import os, time
from livewell import Livewell, TaskContext
from livewell.kernel import configure_logs

configure_logs(environment={"LIVEWELL_LOG_LEVEL": "warning"})
url, notes, count, seconds, lease = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
book = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
app = Livewell(url)

def note(what, ctx):
    os.write(book, f"{what} {ctx.task} {ctx.epoch} {os.getpid()}\\n".encode())

async def work(ctx: TaskContext):
    note("began", ctx)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note("stopped", ctx)
        raise
    note("ended", ctx)
    return {"worked": 1}

for number in range(count):
    app.task(f"t{number}", every="1 hour", lease=lease)(work)

async def main():
    async with app:
        answer("ready")
        await told()
        await app.run_scheduler()

asyncio.run(main())
"""


class Notes:
    """What the nodes noted: (what, task, epoch, pid)."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def of(self, what: str) -> list[tuple[str, int, int]]:
        if not self.path.exists():
            return []
        lines = (line.split() for line in self.path.read_text(encoding="utf-8").splitlines())
        return [(task, int(epoch), int(pid)) for word, task, epoch, pid in lines if word == what]


class Nodes:
    """Processes that run the same tasks."""

    def __init__(self, stack: AsyncExitStack, url: str, folder: Path) -> None:
        self._stack = stack
        self._url = url
        self.notes = Notes(folder / "notes")
        self.children: list[Child] = []

    async def start(
        self, count: int, *, tasks: int, seconds: float, lease: str, skews: list[str] | None = None
    ) -> None:
        environments = [skewed(skew) if skew else {} for skew in skews or [""] * count]
        begun = [
            await self._stack.enter_async_context(
                child(PROGRAM, self._url, self.notes.path, tasks, seconds, lease, environment=environment)
            )
            for environment in environments
        ]
        for node in begun:
            assert await node.answer() == "ready"
        self.children += begun
        for node in begun:
            node.tell("go")


@pytest_asyncio.fixture
async def nodes(owner: Database, database_url: str, tmp_path: Path) -> AsyncIterator[Nodes]:
    await owner.execute("delete from livewell_private.task")
    async with AsyncExitStack() as stack:
        yield Nodes(stack, database_url, tmp_path)


async def _all_succeeded(owner: Database, count: int) -> bool:
    return bool(
        await owner.fetchval("select count(*) = $1 from livewell_private.task where last_success_at is not null", count)
    )


async def test_eight_nodes_run_a_thousand_tasks_once(nodes: Nodes, owner: Database) -> None:
    """A thousand due runs, eight processes, four of them with clocks five minutes wrong: each ran exactly once."""
    skews = ["", "", "", "", "+5m", "+5m", "-5m", "-5m"]
    await nodes.start(NODES, tasks=RACES, seconds=0.0, lease="5 minutes", skews=skews)
    await until(lambda: _all_succeeded(owner, RACES), "every task has run", within=LONG)
    began = nodes.notes.of("began")
    assert Counter(task for task, _, _ in began) == Counter({f"t{number}": 1 for number in range(RACES)})
    assert {epoch for _, epoch, _ in began} == {1}
    assert len({pid for _, _, pid in began}) > 1
    skewed_pids = {node.pid for node, skew in zip(nodes.children, skews, strict=True) if skew}
    assert {pid for _, _, pid in began} & skewed_pids, "no node with a wrong clock took part"
    await _nothing_is_left(owner)


async def _nothing_is_left(owner: Database) -> None:
    """All leases are back."""
    assert await owner.fetchval("select count(*) from livewell_private.task where lease_token is not null") == 0


async def test_killed_and_paused_nodes_run_nothing_twice(nodes: Nodes, owner: Database) -> None:
    """Nodes are killed, and paused past their leases: their runs are lost, repeated once, and never overwritten."""
    count = 24
    await nodes.start(4, tasks=count, seconds=1.5, lease="2 seconds")
    victim, sleeper = nodes.children[0], nodes.children[1]
    await until(lambda: _busy(nodes, [victim, sleeper]), "both are at work")
    os.kill(sleeper.pid, signal.SIGSTOP)
    await victim.kill()
    await until(lambda: _others_took_over(nodes, sleeper), "the paused node's tasks went to others", within=LONG)
    os.kill(sleeper.pid, signal.SIGCONT)
    await until(lambda: _all_succeeded(owner, count), "every task has run", within=LONG)
    began = Counter((task, epoch) for task, epoch, _ in nodes.notes.of("began"))
    assert set(began.values()) == {1}, "one number of a run was given out twice"
    rows = await owner.fetch("select task, outcome, epoch, node from livewell.task_runs")
    accepted = Counter(row["task"] for row in rows if row["outcome"] == "succeeded")
    assert accepted == Counter({f"t{number}": 1 for number in range(count)})
    lost = {(row["task"], row["epoch"]) for row in rows if row["outcome"] == "lost"}
    assert lost, "nobody lost anything"
    # A node may die between taking and beginning, but nothing begins that is not on record.
    assert set(began) <= lost | {(row["task"], row["epoch"]) for row in rows if row["outcome"] == "succeeded"}
    assert any(row["node"].endswith(f"-{sleeper.pid}") for row in rows if row["outcome"] == "lost")
    await asyncio.wait_for(_settled(nodes, sleeper), 30)
    await _nothing_is_left(owner)


async def _busy(nodes: Nodes, wanted: list[Child]) -> bool:
    began, ended = nodes.notes.of("began"), set(nodes.notes.of("ended"))
    at_work = {pid for task, epoch, pid in began if (task, epoch, pid) not in ended}
    return {program.pid for program in wanted} <= at_work


async def _others_took_over(nodes: Nodes, sleeper: Child) -> bool:
    """Whatever the paused node had begun and not ended, somebody else has begun again."""
    done = set(nodes.notes.of("ended"))
    held = {(task, epoch) for task, epoch, pid in nodes.notes.of("began") if pid == sleeper.pid}
    held -= {(task, epoch) for task, epoch, _ in done}
    newer = {(task, epoch - 1) for task, epoch, pid in nodes.notes.of("began") if pid != sleeper.pid}
    return bool(held) and held <= newer


async def _settled(nodes: Nodes, sleeper: Child) -> None:
    """Every run that the node began has been ended or stopped by it."""
    while True:
        over = set(nodes.notes.of("ended")) | set(nodes.notes.of("stopped"))
        if all(run in over for run in nodes.notes.of("began") if run[2] == sleeper.pid):
            return
        await asyncio.sleep(0.05)
