"""What a gateway holds of the items its clients look at: one item, and one view of it for each class that sees it.

A view has the newest content that was read for its class, and the text of its frames. Texts are made once for all
clients of the view and made anew when they are older than a moment, because an age is told as it is when it is sent.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import IntFlag
from typing import TYPE_CHECKING, Literal, NamedTuple

from livewell.access import ReadClass
from livewell.freshness import ItemState
from livewell.live.frames import FramesOf
from livewell.presence import Item

if TYPE_CHECKING:
    from livewell.live.client import LiveClient

# For how long a text with an age in it is told as it is, in seconds.
_TEXT_LASTS = 0.05
_NOBODY_KNOWS = -1
# Seconds between two looks at what is not fresh, and of which nothing is heard.
_SOONEST, _LATEST = 1.0, 30.0

State = Literal["idle", "refreshing", "waiting", "gone"]


class Part(IntFlag):
    """What of an item a client is to be told."""

    ROW = 1
    AGE = 2
    STATE = 4


class Condition(NamedTuple):
    """How an item stands, besides its content; `until` is a moment of the monotonic clock."""

    state: State = "idle"
    waiting_for: str | None = None
    until: float | None = None


class HeldItem:
    """An item that somebody here looks at: its version and age as the database said last."""

    __slots__ = (
        "_look_pause",
        "condition",
        "fetched",
        "frames",
        "fresh_until",
        "id",
        "item",
        "look_at",
        "suspect_until",
        "version",
        "views",
    )

    def __init__(self, item: Item, item_id: int) -> None:
        self.item = item
        self.id = item_id
        self.version = _NOBODY_KNOWS
        self.fetched: float | None = None
        self.fresh_until: float | None = None
        self.condition = Condition()
        # A notice named a version that is not there: until then it is not asked about again.
        self.suspect_until = 0.0
        # When to look at it again although nothing is heard of it, and how long after the last look that is.
        self.look_at = float("inf")
        self._look_pause = _SOONEST
        self.views: dict[ReadClass, View] = {}
        self.frames = FramesOf(item)

    def learn(self, state: ItemState, version: int, now: float) -> Part:
        """Take what the database said, and answer with what of it is news besides the content."""
        self.version, news = version, Part(0)
        fetched = None if state.age is None else now - state.age.total_seconds()
        if fetched is not None and (self.fetched is None or fetched > self.fetched + _TEXT_LASTS):
            news |= Part.AGE
        self.fetched, self.fresh_until = fetched, _moment(state.fresh_for, now)
        condition = _condition(state, now)
        if not _alike(condition, self.condition):
            news |= Part.STATE
        self.condition = condition
        self._look_pause = _SOONEST if news else min(_LATEST, 2 * self._look_pause)
        self.look_at = self._next_look(now)
        return news

    def _next_look(self, now: float) -> float:
        """That something is refreshed, or waits, is told by nobody: it is looked at, less often the longer it lasts."""
        if self.condition.state == "idle" and self.fresh_until is not None and self.fresh_until > now:
            return self.fresh_until
        return now + self._look_pause


class View:
    """An item as one class sees it."""

    __slots__ = ("_made", "_row", "clients", "held", "read_class", "value", "version", "visible", "waiting")

    def __init__(self, held: HeldItem, read_class: ReadClass) -> None:
        self.held = held
        self.read_class = read_class
        # The version whose content was read; nothing yet.
        self.version = _NOBODY_KNOWS
        self.value: str | None = None
        self.visible = False
        self.clients: set[LiveClient] = set()
        # Those who came and were told nothing yet.
        self.waiting: set[LiveClient] = set()
        self._row = ""
        self._made = float("-inf")

    @property
    def is_read(self) -> bool:
        """Whether what was read is what the database has."""
        return self.version == self.held.version

    @property
    def version_text(self) -> str:
        """What a client holds: it changes with the content, and with who may see it by which rule."""
        return f"{self.version}.{self.read_class.digest}"

    @property
    def condition(self) -> Condition:
        """How the item stands, for those who see it."""
        return self.held.condition if self.visible else Condition()

    def take(self, version: int, value: str | None, *, visible: bool) -> None:
        """Hold what was read for this version."""
        self.version, self.value, self.visible = version, value if visible else None, visible
        self._made = float("-inf")

    def text(self, part: Part, now: float) -> str:
        """One frame, as it is at this moment."""
        if part is Part.ROW:
            if now - self._made > _TEXT_LASTS:
                self._row = self.held.frames.row(self.value, self.version_text, *self.ages(now))
                self._made = now
            return self._row
        if part is Part.AGE:
            return self.held.frames.age(*self.ages(now))
        condition = self.condition
        until = None if condition.until is None else max(0, _ms(condition.until - now))
        return self.held.frames.state(condition.state, condition.waiting_for, until)

    def ages(self, now: float) -> tuple[int | None, int | None]:
        """Who does not see the row is told neither when it was fetched nor how long it is fresh."""
        if not self.visible or self.held.fetched is None:
            return None, None
        fresh = None if self.held.fresh_until is None else _ms(self.held.fresh_until - now)
        return max(0, _ms(now - self.held.fetched)), fresh


def _condition(state: ItemState, now: float) -> Condition:
    if state.gone:
        return Condition("gone")
    if state.waiting_for is not None:
        left = None if state.waiting_until is None else state.waiting_until - datetime.now(UTC)
        return Condition("waiting", state.waiting_for, _moment(left, now))
    return Condition("refreshing" if state.refreshing else "idle")


def _alike(new: Condition, old: Condition) -> bool:
    """Whether two conditions say the same; what is awaited within the same second is the same."""
    if new[:2] != old[:2] or (new.until is None) != (old.until is None):
        return False
    return new.until is None or old.until is None or abs(new.until - old.until) < 1


def _moment(left: timedelta | None, now: float) -> float | None:
    return None if left is None else now + left.total_seconds()


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


Clock = Callable[[], float]
