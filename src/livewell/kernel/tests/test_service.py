"""The service loop: rounds, failures, waking, draining and being cut, with real signals to a real process."""

import asyncio
import os
import signal
from datetime import timedelta
from functools import partial

import pytest

from livewell.kernel import DatabaseUnavailable, Service, ServiceOptions
from livewell.testing import captured_logs, child, until

_QUICK = ServiceOptions(first_pause=timedelta(milliseconds=1), longest_pause=timedelta(milliseconds=5))


class Counter:
    """An agent that counts its rounds and fails in those it is told to."""

    def __init__(self, name: str, *, interval: timedelta = timedelta(), fails_until: int = 0) -> None:
        self.name = name
        self.interval = interval
        self.rounds = 0
        self._fails_until = fails_until

    async def run_once(self) -> None:
        self.rounds += 1
        if self.rounds <= self._fails_until:
            raise RuntimeError(f"round {self.rounds}")

    async def has_run(self, times: int) -> bool:
        return self.rounds >= times


class Holder:
    """A component that holds something until it is told to stop, and fails the first few times."""

    name = "holder"

    def __init__(self, *, fails: int = 0) -> None:
        self.starts = 0
        self.ended = False
        self._fails = fails

    async def run(self, stop: asyncio.Event) -> None:
        self.starts += 1
        if self.starts <= self._fails:
            raise RuntimeError("not yet")
        await stop.wait()
        self.ended = True

    async def has_started(self, times: int) -> bool:
        return self.starts >= times


async def test_an_agent_runs_again_and_again_until_drained() -> None:
    """Rounds follow each other by the interval, and draining ends them with exit code 0."""
    agent = Counter("counter")
    service = Service(agents=[agent])
    running = asyncio.create_task(service.run())
    await until(lambda: agent.has_run(3), "three rounds ran")
    service.drain()
    assert await running == 0
    assert service.runs["counter"] == agent.rounds


async def test_an_agent_waits_its_interval_and_can_be_woken() -> None:
    """An agent of a long interval runs once, and once more when its event is set."""
    agent, wake = Counter("sleeper", interval=timedelta(hours=1)), asyncio.Event()
    service = Service()
    service.add(agent, wake=wake)
    running = asyncio.create_task(service.run())
    for rounds in (1, 2, 3):
        await until(partial(agent.has_run, rounds), "the next round ran")
        assert agent.rounds == rounds
        wake.set()
    service.drain()
    assert await running == 0


async def test_a_failing_agent_is_logged_counted_and_stops_nobody() -> None:
    """An exception in a round ends that round only; the agent itself and all others go on."""
    failing, fine = Counter("failing", fails_until=3), Counter("fine")
    service = Service(agents=[failing, fine], options=_QUICK)
    with captured_logs() as logs:
        running = asyncio.create_task(service.run())
        await until(lambda: failing.has_run(5), "the failing agent recovered")
        await until(lambda: fine.has_run(5), "the other one never stopped")
        service.drain()
        await running
    failed = [line for line in logs if line["event"] == "agent_failed"]
    assert [(line["name"], line["in_a_row"]) for line in failed] == [("failing", 1), ("failing", 2), ("failing", 3)]
    assert service.failures == {"failing": 3}


async def test_a_failing_agent_is_tried_less_and_less_often() -> None:
    """The pause after failures in a row doubles up to its limit."""
    options = ServiceOptions(jitter=0, first_pause=timedelta(milliseconds=1), longest_pause=timedelta(milliseconds=5))
    agent = Counter("failing", fails_until=5)
    service = Service(agents=[agent], options=options)
    with captured_logs() as logs:
        running = asyncio.create_task(service.run())
        await until(lambda: agent.has_run(6), "it recovered")
        service.drain()
        await running
    assert [line["pause"] for line in logs if line["event"] == "agent_failed"] == [0.001, 0.002, 0.004, 0.005, 0.005]


@pytest.mark.parametrize(
    ("errors", "reason", "traces"),
    [
        ([DatabaseUnavailable("away"), DatabaseUnavailable("away too")], "away [kernel.database_unavailable]", 0),
        ([DatabaseUnavailable("away"), ValueError("a bug")], "unhandled errors", 1),
    ],
)
async def test_facts_of_parts_that_ran_together_are_one_line(
    errors: list[Exception], reason: str, traces: int, caplog: pytest.LogCaptureFixture
) -> None:
    """What parts ended with for one known reason is told by it, without a traceback; a bug among them shows itself."""
    told = asyncio.Event()

    class Group:
        name = "group"

        async def run(self, stop: asyncio.Event) -> None:
            if not told.is_set():
                told.set()
                raise ExceptionGroup("unhandled errors", errors)
            await stop.wait()

    service = Service(components=[Group()], options=_QUICK)
    with captured_logs() as logs:
        running = asyncio.create_task(service.run())
        await until(lambda: _counted(service, "group"), "it failed")
        service.drain()
        await running
    (line,) = [line for line in logs if line["event"] == "component_failed"]
    assert line["reason"].startswith(reason)
    assert caplog.text.count("Exception Group Traceback") == traces


async def _counted(service: Service, name: str) -> bool:
    return service.failures[name] > 0


async def test_a_failing_component_is_started_again() -> None:
    """A component that breaks is started anew, until it is told to stop."""
    holder = Holder(fails=2)
    service = Service(components=[holder], options=_QUICK)
    running = asyncio.create_task(service.run())
    await until(lambda: holder.has_started(3), "it was started a third time")
    service.drain()
    assert await running == 0
    assert (holder.ended, service.failures["holder"]) == (True, 2)


async def test_a_round_under_way_ends_before_the_service_does() -> None:
    """Draining lets a round end and begins none."""
    begun, go_on, ended = asyncio.Event(), asyncio.Event(), []

    class Slow:
        name = "slow"
        interval = timedelta()

        async def run_once(self) -> None:
            begun.set()
            await go_on.wait()
            ended.append(True)

    service = Service(agents=[Slow()])
    running = asyncio.create_task(service.run())
    await begun.wait()
    service.drain()
    assert not running.done()
    go_on.set()
    assert await running == 0
    assert ended == [True]


async def test_draining_may_have_a_limit() -> None:
    """What has not ended by the limit is cut off, and the exit code says so."""
    begun = asyncio.Event()

    class Stuck:
        name = "stuck"
        interval = timedelta()

        async def run_once(self) -> None:
            begun.set()
            await asyncio.Event().wait()

    service = Service(agents=[Stuck()], options=ServiceOptions(drain_limit=timedelta(milliseconds=10)))
    with captured_logs() as logs:
        running = asyncio.create_task(service.run())
        await begun.wait()
        service.drain()
        assert await running == 1
    assert [line["still_running"] for line in logs if line["event"] == "service_cut"] == [["stuck"]]


async def test_first_rounds_are_spread() -> None:
    """With time to begin in, components start at once and an agent's first round comes later; a wake brings it on."""
    agent, wake, holder = Counter("later", interval=timedelta(hours=1)), asyncio.Event(), Holder()
    service = Service(components=[holder], options=ServiceOptions(first_round_within=timedelta(hours=1)))
    service.add(agent, wake=wake)
    running = asyncio.create_task(service.run())
    await until(lambda: holder.has_started(1), "the component started")
    assert agent.rounds == 0
    wake.set()
    await until(lambda: agent.has_run(1), "the first round ran")
    service.drain()
    assert await running == 0


def test_two_parts_may_not_share_a_name() -> None:
    """Names tell parts apart in logs and counts."""
    with pytest.raises(ValueError, match="twin"):
        Service(agents=[Counter("twin"), Counter("twin")])


_PROGRAM = """
import asyncio, sys
from datetime import timedelta
from livewell.kernel import Service

class Slow:
    name = "slow"
    interval = timedelta(0)
    async def run_once(self):
        answer("round begun")
        await told()
        answer("round ended")

class Holder:
    name = "holder"
    async def run(self, stop):
        await stop.wait()
        answer("told to stop")

sys.exit(asyncio.run(Service(agents=[Slow()], components=[Holder()]).run()))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_first_signal_drains(number: signal.Signals) -> None:
    """After one signal components are told, the round under way ends, no other begins, and the exit code is 0."""
    async with child(_PROGRAM) as service:
        assert await service.answer() == "round begun"
        os.kill(service.pid, number)
        assert await service.answer() == "told to stop"
        service.tell("go on")
        assert await service.answer() == "round ended"
        assert await service.ended() == 0


async def test_the_second_signal_cuts() -> None:
    """After a second signal nothing is waited for, and the exit code names the signal."""
    async with child(_PROGRAM.replace("await told()", "await asyncio.Event().wait()")) as service:
        assert await service.answer() == "round begun"
        os.kill(service.pid, signal.SIGTERM)
        assert await service.answer() == "told to stop"
        os.kill(service.pid, signal.SIGTERM)
        assert await service.ended() == 128 + signal.SIGTERM
