"""The calendar keeper writes when exchanges are open, a year ahead, for the gate market_hours.

In a running system it is the handler of the task `market_calendar`. The calendars are those of exchange-calendars (the
extra `market`): holidays, half days, breaks and daylight-saving changes. An exchange whose calendar cannot be had is
warned about, and its gate is open; the others go on.

Events: `calendar_kept` with the exchange and how many sessions are new or gone, `calendar_missing` with the reason.
"""

import asyncio
import warnings
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from livewell.kernel import Logger
from livewell.registry.errors import CalendarUnavailable
from livewell.registry.store import RegistryStore
from livewell.registry.types import MarketSession

log = Logger("livewell.registry")

BEHIND = timedelta(days=14)
AHEAD = timedelta(days=367)


class CalendarKeeper:
    """Keeps the sessions of exchanges a year ahead."""

    def __init__(self, store: RegistryStore) -> None:
        self._store = store

    async def run_once(self) -> dict[str, Any]:
        """Write the sessions of the exchanges in use; answers what changed and what is missing."""
        return await self.keep(await self._store.exchanges_in_use())

    async def keep(self, exchanges: Sequence[str]) -> dict[str, Any]:
        """Write the sessions of these exchanges."""
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        changed, missing = 0, []
        for exchange in exchanges:
            try:
                changed += await self._keep(exchange, today - BEHIND, today + AHEAD)
            except CalendarUnavailable as fact:
                missing.append(exchange)
                log.warning("calendar_missing", exchange=exchange, error=str(fact))
                await self._store.miss_calendar(exchange, str(fact))
        return {"sessions_changed": changed, "missing": missing}

    async def _keep(self, exchange: str, begin: datetime, end: datetime) -> int:
        # Calendars take a second to load and to compute, in which leases want to be renewed.
        sessions = await asyncio.to_thread(sessions_of, exchange, begin, end)
        changed = await self._store.put_calendar(exchange, begin, end, sessions)
        log.info("calendar_kept", exchange=exchange, sessions_changed=changed, known_until=end)
        return changed


def sessions_of(exchange: str, begin: datetime, end: datetime) -> list[MarketSession]:
    """When an exchange is open from one midnight in UTC to another, by exchange-calendars."""
    # What the calendars' own dependencies warn about is not ours to mend.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schedule = _schedule(exchange, begin, end)
        return [session for session in _opened(schedule) if begin <= session.opens_at < end]


def _schedule(exchange: str, begin: datetime, end: datetime) -> Any:
    """One row per day of trading. That of the last day may open on the day before, in UTC."""
    try:
        import exchange_calendars  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise CalendarUnavailable(
            f"the sessions of {exchange} are not known: exchange-calendars is not installed",
            fix="pip install 'livewell[market]'",
        ) from error
    try:
        calendar = exchange_calendars.get_calendar(exchange, start=f"{begin:%Y-%m-%d}", end=f"{end:%Y-%m-%d}")
    except (exchange_calendars.errors.CalendarError, ValueError) as error:
        raise CalendarUnavailable(
            f"the sessions of {exchange} are not known: {error}", fix="name an exchange by its MIC, as XNYS"
        ) from error
    return calendar.schedule


def _opened(schedule: Any) -> Iterator[MarketSession]:
    """The sessions of each day: two when it has a break."""
    for day in schedule.itertuples():
        opens, closes = day.open.to_pydatetime(), day.close.to_pydatetime()
        if day.break_start != day.break_start:  # what is no time is not equal to itself
            yield MarketSession(opens, closes)
        else:
            yield MarketSession(opens, day.break_start.to_pydatetime())
            yield MarketSession(day.break_end.to_pydatetime(), closes)
