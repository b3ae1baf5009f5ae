"""What runs, on a terminal: a live picture; without a terminal, plain lines.

Both say how old their figures are when they could not be read again, and show no share of freshness they do not know.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from livewell.cli.news import News
from livewell.cli.output import console, say
from livewell.cli.picture import Seen, draw, drawn_progress
from livewell.cli.queue_figures import Figures
from livewell.cli.troubles import Trouble
from livewell.cli.type_figures import WatchedFigures
from livewell.kernel import shown_duration, shown_text

if TYPE_CHECKING:
    from rich.console import Console, Group

_EVENTS = 8
_TOLD_EVERY = 60.0
_LOST_TOLD_EVERY = 10.0
_MOST_TOLD = 10


class View(Protocol):
    """Where what runs shows itself."""

    def entitle(self, title: str, hints: Sequence[str] = ()) -> None: ...

    def prepare(self, done: int, of: int, what: str) -> None:
        """Say what is being made ready."""

    def tell(self, line: str) -> None: ...

    def show(self, figures: Figures, market: WatchedFigures, news: News) -> None: ...

    def lose(self, reason: str) -> None:
        """Say that the figures could not be read."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def view_for(title: str) -> View:
    """A live picture where somebody watches, else lines."""
    return LiveView(title) if console().is_terminal else PlainView(title)


@dataclass(frozen=True, kw_only=True)
class Lost:
    """Since when figures could not be read, and why."""

    since: float
    reason: str


class PlainView:
    """A line a second, and what happens as it happens; what is wrong has a line of its own, once a minute."""

    def __init__(self, title: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._said = float("-inf")
        self._shown_at = clock()
        self._prepared = 0
        self._lost: Lost | None = None
        self._told: dict[tuple[str, str], float] = {}
        self.entitle(title)

    def entitle(self, title: str, hints: Sequence[str] = ()) -> None:
        for line in (title, *hints):
            if line:
                self._write(line)

    def prepare(self, done: int, of: int, what: str) -> None:
        if done != self._prepared:
            self._prepared = done
            self._say(f"{done} of {of}: {what} …")

    def tell(self, line: str) -> None:
        self._say(line)

    def show(self, figures: Figures, market: WatchedFigures, news: News) -> None:
        now = self._clock()
        self._shown_at = now
        if self._lost is not None:
            self._say(f"figures again, after {_seconds(now - self._lost.since)} without")
            self._lost = None
        seen = Seen(figures=figures, market=market, news=news)
        for trouble in seen.troubles:
            if self._is_news(trouble, now):
                self._say(f"wrong: {trouble.line}")
        if self._is_time(1):
            self._say(seen.line)

    def lose(self, reason: str) -> None:
        first = self._lost is None
        if self._lost is None:
            self._lost = Lost(since=self._shown_at, reason=reason)
        if self._is_time(0 if first else _LOST_TOLD_EVERY):
            self._say(f"no figures for {_seconds(self._clock() - self._lost.since)}: {reason}")

    def _is_time(self, seconds: float) -> bool:
        now = self._clock()
        if now - self._said < seconds:
            return False
        self._said = now
        return True

    def _is_news(self, trouble: Trouble, now: float) -> bool:
        """Whether to tell it: not twice in a minute, and not many of the same thing, as when a thousand keys fail."""
        self._told = {told: at for told, at in self._told.items() if now - at < _TOLD_EVERY}
        this = trouble.what, trouble.known_by or trouble.why
        if this in self._told or sum(what == trouble.what for what, _ in self._told) >= _MOST_TOLD:
            return False
        self._told[this] = now
        return True

    def _say(self, line: str) -> None:
        self._write(f"{self._clock() - self._began:5.1f} s  {shown_text(line)}")

    def _write(self, line: str) -> None:
        from sys import stdout

        say(line)
        stdout.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class LiveView:
    """How fresh what people look at is, what is wrong, the workers, and the last things that happened."""

    def __init__(self, title: str, screen: "Console | None" = None) -> None:
        from rich.live import Live

        self._screen = screen or console()
        self._began = time.monotonic()
        self._title = title
        self._hints: Sequence[str] = ()
        self._preparing: tuple[int, int, str] | None = None
        self._events: deque[str] = deque(maxlen=_EVENTS)
        self._seen: Seen | None = None
        self._seen_at = self._began
        self._lost: Lost | None = None
        # Drawn anew four times a second: the age of figures that nobody brings grows all the same.
        self._live = Live(get_renderable=self.picture, console=self._screen, refresh_per_second=4)

    def entitle(self, title: str, hints: Sequence[str] = ()) -> None:
        self._title, self._hints = title, hints

    def prepare(self, done: int, of: int, what: str) -> None:
        self._preparing = done, of, what

    def tell(self, line: str) -> None:
        self._events.append(f"{time.monotonic() - self._began:5.1f} s  {line}")

    def show(self, figures: Figures, market: WatchedFigures, news: News) -> None:
        self._preparing = None
        self._seen, self._seen_at = Seen(figures=figures, market=market, news=news), time.monotonic()
        if self._lost is not None:
            self.tell(f"figures again, after {_seconds(self._seen_at - self._lost.since)} without")
            self._lost = None

    def lose(self, reason: str) -> None:
        self._lost = Lost(since=self._lost.since if self._lost else self._seen_at, reason=reason)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def picture(self) -> "Group":
        """What there is to see now."""
        if self._preparing is not None:
            return drawn_progress(self._title, *self._preparing, self._events)
        age = time.monotonic() - self._seen_at
        reason = self._lost.reason if self._lost else None
        return draw(
            self._title,
            self._seen,
            width=self._screen.width,
            age=age,
            lost=reason,
            events=self._events,
            hints=self._hints,
        )


def _seconds(seconds: float) -> str:
    return shown_duration(timedelta(seconds=round(seconds)))
