"""What runs, on a terminal: a live picture; without a terminal, plain lines."""

import time
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from itertools import zip_longest
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from livewell.cli.news import News
from livewell.cli.output import console, say, shown_bytes
from livewell.cli.queue_figures import HISTORY, Figures, KindFigures
from livewell.cli.type_figures import TypeFigures, WatchedFigures

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

_BARS = " ▁▂▃▄▅▆▇█"
_EVENTS = 8
_BAR = 20


class View(Protocol):
    """Where what runs shows itself."""

    def tell(self, line: str) -> None: ...

    def show(self, figures: Figures, market: WatchedFigures, news: News) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def view_for(title: str, hints: Sequence[str]) -> View:
    """A live picture where somebody watches, else lines."""
    return LiveView(title, hints) if console().is_terminal else PlainView(title, hints)


class PlainView:
    """A line a second, and what happens as it happens."""

    def __init__(self, title: str, hints: Sequence[str]) -> None:
        self._began = time.monotonic()
        self._said = float("-inf")
        for line in (title, *hints):
            say(line)

    def tell(self, line: str) -> None:
        self._say(line)

    def show(self, figures: Figures, market: WatchedFigures, news: News) -> None:
        if time.monotonic() - self._said < 1:
            return
        self._said = time.monotonic()
        running, waiting = sum(kind.running for kind in figures.kinds), sum(kind.waiting for kind in figures.kinds)
        completed, failed = sum(kind.completed for kind in figures.kinds), sum(kind.failed for kind in figures.kinds)
        rate = sum(kind.rate for kind in figures.kinds)
        refreshes = sum(one.per_minute for one in market.types)
        self._say(
            f"{market.items} items watched, {_share(market.within_ttl)} within TTL, {refreshes:.0f} refreshes/min;"
            f" jobs: {waiting} waiting, {running} running, {completed} completed ({rate:.0f}/s), {failed} dead letters,"
            f" {sum(not worker.silent for worker in figures.workers)} workers"
            + "".join(f"; changed {one.line}" for one in news.changes[:1])
        )

    def _say(self, line: str) -> None:
        from sys import stdout

        say(f"{time.monotonic() - self._began:5.1f} s  {line}")
        stdout.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class LiveView:
    """States and rates by kind, the workers, and the last things that happened."""

    def __init__(self, title: str, hints: Sequence[str]) -> None:
        from rich.live import Live

        self._title = title
        self._hints = hints
        self._began = time.monotonic()
        self._events: deque[str] = deque(maxlen=_EVENTS)
        self._figures: tuple[Figures, WatchedFigures, News] | None = None
        self._live = Live(self._picture(), console=console(), refresh_per_second=4)

    def tell(self, line: str) -> None:
        self._events.append(f"{time.monotonic() - self._began:5.1f} s  {line}")
        self._live.update(self._picture())

    def show(self, figures: Figures, market: WatchedFigures, news: News) -> None:
        self._figures = figures, market, news
        self._live.update(self._picture())

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _picture(self) -> "Group":
        from rich.console import Group
        from rich.text import Text

        parts: list[Table | Text] = [Text(self._title, style="bold"), Text("")]
        if self._figures is not None:
            figures, market, news = self._figures
            parts += [_types(market.types), Text(""), _budgets(market), Text("")]
            parts += [news_table(news), Text("")]
            if figures.kinds:
                parts += [_kinds(figures.kinds), Text("")]
            parts += [_workers(figures), Text("")]
        parts += [Text(event) for event in self._events]
        parts += [Text(""), *(Text(hint, style="dim") for hint in self._hints)]
        return Group(*parts)


def _types(types: Sequence[TypeFigures]) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("type")
    for column in ("watched", "viewers", "within TTL", "oldest", "refreshed/min", "refused"):
        table.add_column(column, justify="right")
    table.add_column("", width=HISTORY)
    for one in types:
        table.add_row(
            one.name,
            f"{one.items:,}",
            f"{one.viewers:,}",
            _share(one.within_ttl),
            _wait(one.oldest),
            f"{one.per_minute:.0f}",
            f"{one.refused:,}",
            sparkline(one.rates),
        )
    return table


def _budgets(market: WatchedFigures) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for one in market.budgets:
        if one.requests_per_minute is not None:
            used = one.requests_last_minute / one.requests_per_minute
            calls = f"{one.requests_last_minute:,} of {one.requests_per_minute:,} calls/min"
            table.add_row(one.name, bar(used), calls, "" if one.opens_at is None else "closed")
    for quota in market.quotas:
        if allowed := quota.allowed_bytes or quota.quota_bytes:
            spent = f"{shown_bytes(quota.used_bytes)} of {shown_bytes(allowed)}"
            table.add_row(quota.provider, bar(quota.used_bytes / allowed), spent, "")
    return table


def news_table(news: News) -> "Table":
    """What changed last beside what was refused last."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("last changes", no_wrap=True)
    table.add_column("refusals")
    for change, refusal in zip_longest((one.line for one in news.changes), news.refusals, fillvalue=""):
        table.add_row(escape(change), escape(refusal))
    return table


def bar(share: float) -> str:
    """A share as a bar of twenty."""
    full = min(_BAR, max(0, round(share * _BAR)))
    return "█" * full + "░" * (_BAR - full)


def _share(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _kinds(kinds: Sequence[KindFigures]) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("kind")
    for column in ("waiting", "running", "completed", "dead", "per second"):
        table.add_column(column, justify="right")
    table.add_column("", width=HISTORY)
    table.add_column("start p50", justify="right")
    table.add_column("p99", justify="right")
    for kind in kinds:
        p50, p99 = kind.latency or (None, None)
        figures = (f"{kind.waiting:,}", f"{kind.running:,}", f"{kind.completed:,}", f"{kind.failed:,}")
        table.add_row(kind.kind, *figures, f"{kind.rate:.1f}", sparkline(kind.rates), _wait(p50), _wait(p99))
    return table


def _workers(figures: Figures) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("worker", "slots", ""):
        table.add_column(column)
    for worker in figures.workers:
        state = f"silent for {worker.unseen.total_seconds():.0f} s" if worker.silent else "working"
        table.add_row(worker.name, str(worker.slots), state, style="dim" if worker.silent else None)
    return table


def sparkline(values: Sequence[float]) -> str:
    """The last values as a little picture, the highest one full."""
    top = max(values, default=0.0)
    if top <= 0:
        return ""
    return "".join(_BARS[round(value / top * (len(_BARS) - 1))] for value in values)


def _wait(wait: timedelta | None) -> str:
    if wait is None:
        return "–"
    seconds = wait.total_seconds()
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"
