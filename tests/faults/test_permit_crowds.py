"""Crowds over one endpoint, in one process and in four: what its provider saw, by the provider's own clock."""

import asyncio
import os
import random
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from livewell.kernel import Database
from livewell.testing import child, make_endpoint

pytestmark = pytest.mark.faults

ENDPOINT = "crowd/call"
PER_MINUTE, TOGETHER, CALLS = 600, 40, 1000
WINDOW = 60.0

CALLERS = """
from livewell.budgets import PermitPool
from livewell.kernel import Database, DatabaseOptions

url, port, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
order = []

async def call(pool, number):
    async with pool.permit("crowd/call") as permit:
        order.append(number)
        permit.send()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await reader.read()
        writer.close()
        permit.settle(bytes=10)

async def main():
    async with await Database.open(DatabaseOptions(url=url)) as database, PermitPool(database) as pool:
        answer("ready")
        await told()
        await asyncio.gather(*(call(pool, number) for number in range(calls)))
    answer(order)

asyncio.run(main())
"""

STEADY = """
import os, signal

from livewell.budgets import PermitExpired, PermitPool
from livewell.kernel import Database, DatabaseOptions

url, port = sys.argv[1], int(sys.argv[2])
counts = {"sent": 0, "expired": 0, "stopped": 0}

async def call(pool):
    async with pool.permit("crowd/call") as permit:
        if not counts["stopped"]:
            counts["stopped"] += 1
            answer("stopping")
            os.kill(os.getpid(), signal.SIGSTOP)
        try:
            permit.send()
        except PermitExpired:
            counts["expired"] += 1
            return
        counts["sent"] += 1
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await reader.read()
        writer.close()

async def again_and_again(pool):
    while True:
        await call(pool)

async def main():
    async with await Database.open(DatabaseOptions(url=url)) as database, PermitPool(database) as pool:
        tasks = [asyncio.create_task(again_and_again(pool)) for _ in range(160)]
        answer("ready")
        await told()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    answer(counts)

asyncio.run(main())
"""


@dataclass
class Provider:
    """A server that logs every call when it arrives and how many it has at once."""

    arrivals: list[float] = field(default_factory=list)
    under_way: int = 0
    most: int = 0
    port: int = 0
    dice: random.Random = field(default_factory=lambda: random.Random(7))

    async def answer(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.arrivals.append(time.monotonic())
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(self.dice.uniform(0, 0.02))
        self.under_way -= 1
        writer.close()

    def worst_window(self) -> int:
        """The most calls in any window of a minute, wherever it begins."""
        first = worst = 0
        for last, at in enumerate(self.arrivals):
            while self.arrivals[first] <= at - WINDOW:
                first += 1
            worst = max(worst, last - first + 1)
        return worst


@asynccontextmanager
async def provider() -> AsyncIterator[Provider]:
    log = Provider()
    async with await asyncio.start_server(log.answer, "127.0.0.1", 0, backlog=2000) as server:
        log.port = server.sockets[0].getsockname()[1]
        yield log


@pytest.mark.timeout(240)
@pytest.mark.parametrize("processes", [1, 4])
async def test_a_crowd_stays_within_every_window(
    owner: Database, database_url: str, request: pytest.FixtureRequest, processes: int
) -> None:
    """A thousand at once: no minute and no moment over the limit at the provider, the limit used, everybody served."""
    await make_endpoint(owner, ENDPOINT, requests_per_minute=PER_MINUTE, concurrent=TOGETHER)
    share = CALLS // processes
    async with provider() as log, AsyncExitStack() as stack:
        callers = [
            await stack.enter_async_context(child(CALLERS, database_url, log.port, share)) for _ in range(processes)
        ]
        assert [await caller.answer() for caller in callers] == ["ready"] * processes
        for caller in callers:
            caller.tell("go")
        began = time.monotonic()
        while len(log.arrivals) < CALLS and time.monotonic() - began < 150:
            await asyncio.sleep(0.1)
        orders = [await caller.answer() for caller in callers]
    took = log.arrivals[-1] - log.arrivals[0]
    line = f"worst window {log.worst_window() / PER_MINUTE:.3f} of the limit, together {log.most}, took {took:.1f} s"
    request.node.user_properties.append(("fault run", f"{request.node.name}: {line}"))
    assert len(log.arrivals) == CALLS
    assert orders == [list(range(share))] * processes, "first come, first served in each process"
    assert log.worst_window() <= PER_MINUTE, line
    assert log.worst_window() >= 0.95 * PER_MINUTE, line
    assert log.most <= TOGETHER, line
    assert took < WINDOW + 10, line
    assert await owner.fetchval("select count(*) from livewell_private.permit_block") == 0


@pytest.mark.timeout(300)
async def test_stopped_and_killed_callers_stay_within_every_window(
    owner: Database, database_url: str, request: pytest.FixtureRequest, seed: str
) -> None:
    """F1, F2: stopped with permits in hand for longer than `send_within`, stopped anywhere, killed: nothing is over."""
    dice = random.Random(seed)
    await make_endpoint(owner, ENDPOINT, requests_per_minute=PER_MINUTE, concurrent=PER_MINUTE)
    async with provider() as log, AsyncExitStack() as stack:
        callers = [await stack.enter_async_context(child(STEADY, database_url, log.port)) for _ in range(4)]
        for word in ("ready", "stopping"):
            assert [await caller.answer() for caller in callers] == [word] * 4
        began = time.monotonic()
        await asyncio.sleep(3)
        for caller in callers:
            os.kill(caller.pid, signal.SIGCONT)
        doomed = callers.pop()
        while time.monotonic() - began < WINDOW + 6:
            victim = dice.choice(callers).pid
            os.kill(victim, signal.SIGSTOP)
            await asyncio.sleep(dice.uniform(0.5, 3))
            os.kill(victim, signal.SIGCONT)
            await asyncio.sleep(dice.uniform(0, 0.5))
        await doomed.kill()
        for caller in callers:
            caller.tell("stop")
        counts = [await caller.answer() for caller in callers]
    line = (
        f"seed {seed}, worst window {log.worst_window() / PER_MINUTE:.3f} of the limit, calls {len(log.arrivals)},"
        f" not sent in time {sum(count['expired'] for count in counts)}"
    )
    request.node.user_properties.append(("fault run", f"{request.node.name}: {line}"))
    assert all(count["expired"] for count in counts), line
    assert log.worst_window() <= PER_MINUTE, line
    assert len(log.arrivals) > PER_MINUTE / 2, line
