"""The watchdog runs apart from everything and looks from outside, so that a silent system is noticed too.

It asks the health address (and the database, if told to), and tells a dead-man service: the ping on success, its
`/fail` on failure. When the watchdog itself is gone the pings are missing, and that alarms. It needs no database of its
own, every step is bounded, and a ping that fails ends nothing.

Events: `watchdog_satisfied`, `watchdog_alarmed`, `watchdog_ping_failed`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import aiohttp
from pydantic_core import from_json

from livewell.kernel import LivewellError, Logger, wait_for_any

log = Logger("livewell.schedule")

_HEALTHY = 200
_LONGEST_ANSWER = 1_000_000
_PING_REFUSED = 400

DatabaseCheck = Callable[[], Awaitable[str | None]]


@dataclass(frozen=True, kw_only=True)
class WatchdogOptions:
    """What is asked, whom to tell, how often, and how long anything may take."""

    url: str | None
    ping: str | None = None
    every: timedelta = timedelta(minutes=5)
    timeout: timedelta = timedelta(seconds=10)


class Watchdog:
    """An agent; also run by itself, until told to stop."""

    name = "watchdog"

    def __init__(self, options: WatchdogOptions, check_database: DatabaseCheck | None = None) -> None:
        self._options = options
        self._check_database = check_database

    async def run(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            await self.run_once()
            await wait_for_any(stop, timeout=self._options.every.total_seconds())

    async def run_once(self) -> list[str]:
        """Look once and tell; answers what is wrong, nothing when all is well."""
        total = aiohttp.ClientTimeout(total=self._options.timeout.total_seconds())
        async with aiohttp.ClientSession(timeout=total) as session:
            problems = [problem for problem in await self._problems(session) if problem is not None]
            if problems:
                log.error("watchdog_alarmed", problems=problems)
            else:
                log.info("watchdog_satisfied")
            if self._options.ping is not None:
                await self._tell(session, self._options.ping.rstrip("/"), problems)
        return problems

    async def _problems(self, session: aiohttp.ClientSession) -> list[str | None]:
        asked = [self._health_problem(session, self._options.url)] if self._options.url else []
        return list(await asyncio.gather(*asked, *([self._database_problem()] if self._check_database else [])))

    async def _health_problem(self, session: aiohttp.ClientSession, url: str) -> str | None:
        try:
            async with session.get(url) as answer:
                body = await answer.content.read(_LONGEST_ANSWER)
                return None if answer.status == _HEALTHY else f"{url} answers {answer.status}{_late_in(body)}"
        except (aiohttp.ClientError, ValueError, OSError, TimeoutError) as error:
            return f"{url} does not answer: {_said(error)}"

    async def _database_problem(self) -> str | None:
        if self._check_database is None:
            return None
        try:
            async with asyncio.timeout(self._options.timeout.total_seconds()):
                return await self._check_database()
        except (LivewellError, TimeoutError) as error:
            return f"the database does not answer: {_said(error)}"

    async def _tell(self, session: aiohttp.ClientSession, ping: str, problems: list[str]) -> None:
        url = f"{ping}/fail" if problems else ping
        try:
            async with session.post(url, data="\n".join(problems).encode()) as answer:
                if answer.status >= _PING_REFUSED:
                    log.warning("watchdog_ping_failed", status=answer.status)
        except (aiohttp.ClientError, ValueError, OSError, TimeoutError) as error:
            log.warning("watchdog_ping_failed", error=_said(error))


def late_names(health: "dict[str, object]") -> str | None:
    """The late tasks of a health document, in one line; None when all is well."""
    if health.get("ok") is True:
        return None
    late = health.get("late")
    names = [str(task.get("task")) for task in late if isinstance(task, dict)] if isinstance(late, list) else []
    return f"late: {', '.join(names)}" if names else str(health.get("error") or "no task is declared")


def _said(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _late_in(body: bytes) -> str:
    try:
        document = from_json(body)
    except ValueError:
        return ""
    return f" ({late_names(document)})" if isinstance(document, dict) else ""
