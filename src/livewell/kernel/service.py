"""The loop that runs agents and components until it is told to stop.

An agent does one round of its work in `run_once()` and is called again after its interval, or earlier when woken. A
component runs by itself until its stop event is set. Each runs beside the others: one that fails is logged, counted,
and tried again after a growing pause; nobody else notices.

Stopping: the first SIGTERM or SIGINT drains (rounds under way end, components finish what they hold, nothing new
begins), the second cuts everything off at once. `run()` returns the exit code: 0 after a drain, 128 + the signal's
number after a cut, 1 when draining took longer than its limit.

Events: `service_started`, `service_draining`, `service_stopped`, `service_cut`, `agent_failed`, `component_failed`.
"""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from livewell.kernel.backoff import Backoff
from livewell.kernel.errors import LivewellError
from livewell.kernel.logger import Logger
from livewell.kernel.waiting import wait_for_any

DRAINED = 0
DRAIN_TOOK_TOO_LONG = 1
CUT_BY_SIGNAL = 128

log = Logger("livewell.kernel")


class Agent(Protocol):
    """Something that is done again and again: an -er noun, one round at a time."""

    @property
    def name(self) -> str: ...

    @property
    def interval(self) -> timedelta: ...

    async def run_once(self) -> object: ...


class Component(Protocol):
    """Something that runs by itself; once `stop` is set it takes nothing new, ends what it holds, and returns."""

    @property
    def name(self) -> str: ...

    async def run(self, stop: asyncio.Event) -> None: ...


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """How rounds are spread, how failures are paced, and how long draining may take (None: as long as it takes).

    The first round of an agent comes at a random moment of `first_round_within` (or of its interval, if that is
    shorter): components go first, and processes that were started together do not all do the same.
    """

    jitter: float = 0.1
    first_round_within: timedelta = timedelta()
    first_pause: timedelta = timedelta(seconds=1)
    longest_pause: timedelta = timedelta(minutes=1)
    drain_limit: timedelta | None = None


class Service:
    """Runs agents and components together; `runs` and `failures` count by their names."""

    def __init__(
        self,
        *,
        agents: Iterable[Agent] = (),
        components: Iterable[Component] = (),
        options: ServiceOptions | None = None,
    ) -> None:
        self._options = options = options or ServiceOptions()
        self._backoff = Backoff(
            first=options.first_pause,
            longest=options.longest_pause,
            least=1 - options.jitter,
            most=1 + options.jitter,
        )
        self._loops: dict[str, Callable[[], Coroutine[None, None, None]]] = {}
        self._stop = asyncio.Event()
        self._cut = asyncio.Event()
        self._signals: list[int] = []
        self.runs: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        for agent in agents:
            self.add(agent)
        for component in components:
            self.add_component(component)

    def add(self, agent: Agent, *, wake: asyncio.Event | None = None) -> None:
        """Run an agent; setting `wake` ends its present pause, and is cleared as the next round begins."""
        self._claim_name(agent.name)
        self._loops[agent.name] = lambda: self._run_agent(agent, wake or asyncio.Event())

    def add_component(self, component: Component) -> None:
        self._claim_name(component.name)
        self._loops[component.name] = lambda: self._run_component(component)

    def drain(self) -> None:
        """Let what is under way end, begin nothing new."""
        if not self._stop.is_set():
            log.info("service_draining")
            self._stop.set()

    def cut(self) -> None:
        """Stop everything where it is."""
        self._cut.set()

    async def run(self) -> int:
        """Run until drained or cut; returns the exit code."""
        self._listen_for_signals()
        tasks = [asyncio.create_task(loop(), name=name) for name, loop in self._loops.items()]
        log.info("service_started", running=sorted(self._loops))
        try:
            return await self._end_of(tasks)
        finally:
            await _cancel(tasks)
            self._forget_signals()

    async def _end_of(self, tasks: list[asyncio.Task[None]]) -> int:
        everything = asyncio.create_task(_all(tasks))
        try:
            await wait_for_any(self._stop, self._cut, everything)
            limit = self._options.drain_limit.total_seconds() if self._options.drain_limit else None
            await wait_for_any(self._cut, everything, timeout=limit)
            if everything.done() and not self._cut.is_set():
                log.info("service_stopped")
                return DRAINED
        finally:
            await _cancel([everything])
        log.warning("service_cut", still_running=sorted(task.get_name() for task in tasks if not task.done()))
        return CUT_BY_SIGNAL + self._signals[-1] if self._signals and self._cut.is_set() else DRAIN_TOOK_TOO_LONG

    async def _run_agent(self, agent: Agent, wake: asyncio.Event) -> None:
        failed_in_a_row = 0
        first = min(agent.interval, self._options.first_round_within) * random.random()
        if first:
            await wait_for_any(self._stop, wake, timeout=first.total_seconds())
        while not self._stop.is_set():
            wake.clear()
            try:
                await agent.run_once()
            except Exception as error:  # noqa: BLE001 - one agent's failure, whatever it is, stops nobody else
                failed_in_a_row += 1
                await self._pause_after(error, "agent_failed", agent.name, failed_in_a_row)
            else:
                failed_in_a_row = 0
                self.runs[agent.name] += 1
                await wait_for_any(self._stop, wake, timeout=self._spread(agent.interval))

    async def _run_component(self, component: Component) -> None:
        failed_in_a_row = 0
        while not self._stop.is_set():
            try:
                await component.run(self._stop)
            except Exception as error:  # noqa: BLE001 - as for agents
                failed_in_a_row += 1
                await self._pause_after(error, "component_failed", component.name, failed_in_a_row)
            else:
                self.runs[component.name] += 1
                return

    async def _pause_after(self, error: Exception, event: str, name: str, in_a_row: int) -> None:
        """Log and count what failed, and wait, longer each time it fails in a row."""
        fact = _fact_behind(error)
        trace = None if fact else error
        self.failures[name] += 1
        pause = self._backoff.seconds(in_a_row)
        log.error(event, name=name, reason=str(fact or error), in_a_row=in_a_row, pause=round(pause, 3), exc_info=trace)
        await wait_for_any(self._stop, timeout=pause)

    def _spread(self, interval: timedelta) -> float:
        """A pause around the interval, so that processes started together do not stay in step."""
        return interval.total_seconds() * random.uniform(1 - self._options.jitter, 1 + self._options.jitter)

    def _claim_name(self, name: str) -> None:
        if name in self._loops:
            raise ValueError(f"two parts of a service are called {name}")

    def _listen_for_signals(self) -> None:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, self._on_signal, number)

    def _forget_signals(self) -> None:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().remove_signal_handler(number)

    def _on_signal(self, number: int) -> None:
        self._signals.append(number)
        if self._stop.is_set():
            self.cut()
        else:
            self.drain()


def _fact_behind(error: BaseException) -> LivewellError | None:
    """The fact behind an error, or behind all errors of a group; None for a bug, which is logged with its traceback."""
    if isinstance(error, BaseExceptionGroup) and error.split(LivewellError)[1] is None:
        return _fact_behind(error.exceptions[0])
    return error if isinstance(error, LivewellError) else None


async def _all(tasks: list[asyncio.Task[None]]) -> None:
    if tasks:
        await asyncio.wait(tasks)


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
