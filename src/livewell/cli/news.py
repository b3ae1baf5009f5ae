"""The last news: what changed of what is watched, as the commits that stored it tell, and what was warned about."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from livewell.fetching import CHANGES_CHANNEL, read_notice
from livewell.kernel import Listener, SurvivedWarning, list_warnings, shown_decimal

if TYPE_CHECKING:
    from livewell.stores import Stores

_SHOWN = 6
_WARNINGS = 50
_REMEMBERED = 1000
# Seconds: clocks of two machines differ.
_RECENT = 60


@dataclass(frozen=True, kw_only=True)
class Change:
    """A key that changed, and one of its numbers before and after, where it was seen before."""

    at: datetime
    data_type: str
    key: str
    what: str = ""

    @property
    def line(self) -> str:
        return f"{self.at:%H:%M:%S}  {self.data_type} {self.key}" + (f"  {self.what}" if self.what else "")


@dataclass(frozen=True, kw_only=True)
class News:
    """The newest first: of a day, as far as they go; `at` is when they were read."""

    changes: Sequence[Change] = ()
    warnings: Sequence[SurvivedWarning] = ()
    at: datetime | None = None


class NewsObserver:
    """Hears of changes, and looks the last ones up when it is asked."""

    def __init__(self, app: "Stores") -> None:
        self._app = app
        self.listening = asyncio.Event()
        self._heard: deque[tuple[int, datetime]] = deque(maxlen=_SHOWN)
        self._versions: OrderedDict[int, int] = OrderedDict()
        self._changes: deque[Change] = deque(maxlen=_SHOWN)
        self._rows: OrderedDict[tuple[str, str], Mapping[str, Any]] = OrderedDict()

    def on_notify(self, _channel: str, payload: str) -> None:
        now = datetime.now(UTC)
        for item, version in (read_notice(payload) or {}).items():
            if self._is_new(item, version, now):
                self._heard.append((item, now))

    def _is_new(self, item: int, version: int, now: datetime) -> bool:
        """Whether it has changed, and was not only looked at again; a version is near the time of its change."""
        before = self._versions.pop(item, None)
        self._versions[item] = version
        if len(self._versions) > _REMEMBERED:
            self._versions.popitem(last=False)
        return version != before if before is not None else version > (now.timestamp() - _RECENT) * 1e6

    async def look(self) -> News:
        """What is new; of many changes at once only the last are looked up."""
        heard = list(self._heard)
        self._heard.clear()
        names = await self._app.fetches.named_items([item for item, _ in heard]) if heard else {}
        for item, at in heard:
            if item in names:
                data_type, key = names[item]
                self._changes.appendleft(await self._looked_up(Change(at=at, data_type=data_type, key=key)))
        warned = await list_warnings(self._app.database, limit=_WARNINGS)
        return News(changes=tuple(self._changes), warnings=warned, at=datetime.now(UTC))

    async def _looked_up(self, change: Change) -> Change:
        value = (await self._app.items.get(change.data_type, change.key)).value
        row = value[0] if isinstance(value, list) and value else value
        if not isinstance(row, Mapping):
            return change
        name = (change.data_type, change.key)
        before = self._rows.pop(name, None)
        self._rows[name] = row
        if len(self._rows) > _REMEMBERED:
            self._rows.popitem(last=False)
        return Change(at=change.at, data_type=change.data_type, key=change.key, what=_difference(before, row))


def _difference(before: Mapping[str, Any] | None, row: Mapping[str, Any]) -> str:
    """The first number that is another now."""
    for field, new in row.items():
        old: Any = None if before is None else before.get(field)
        if old != new and _is_number(old) and _is_number(new):
            return f"{field} {shown_decimal(old)} → {shown_decimal(new)}"
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@asynccontextmanager
async def news_of(app: "Stores") -> AsyncIterator[NewsObserver]:
    """An observer that hears of changes while it is there."""
    news, stop = NewsObserver(app), asyncio.Event()
    listener = Listener(app.database.options, [CHANGES_CHANNEL], news.on_notify, lambda: None)
    news.listening = listener.listening
    listening = asyncio.create_task(listener.run(stop))
    try:
        yield news
    finally:
        stop.set()
        await listening
