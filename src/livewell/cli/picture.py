"""The picture itself, drawn from figures that were read: no clock, no database, so that any moment can be drawn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from livewell.cli.news import News
from livewell.cli.output import counted
from livewell.cli.queue_figures import HISTORY, Figures, KindFigures, WorkerFigures
from livewell.cli.troubles import Trouble, present, troubles_of
from livewell.cli.type_figures import TypeFigures, WatchedFigures
from livewell.kernel import shown_duration, shown_share, shown_size

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

# Figures are read every half second, and reading takes time: older than this they are out of date.
OLD = 5.0
_BARS = " ▁▂▃▄▅▆▇█"
_BAR = 20
_FIGURE = 6
_WITHOUT_BARS = 88
_GOOD, _FAIR = 0.99, 0.9
_FULL, _NEARLY_FULL = 1.0, 0.9


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Everything that was read at one moment."""

    figures: Figures
    market: WatchedFigures
    news: News

    @cached_property
    def troubles(self) -> list[Trouble]:
        silent = [worker for worker in self.figures.workers if worker.silent and not worker.gone]
        return [
            *(Trouble(what=f"worker {worker.name}", why=worker.state, known_by="silent") for worker in silent),
            *troubles_of(
                budgets=self.market.budgets,
                quotas=self.market.quotas,
                late=self.market.late,
                warnings=present(
                    self.news.warnings,
                    now=self.news.at,
                    failing={data_type.name for data_type in self.market.types if data_type.failing},
                ),
            ),
        ]

    @property
    def line(self) -> str:
        """All of it in one line."""
        kinds, types = self.figures.kinds, self.market.types
        running, waiting = sum(kind.running for kind in kinds), sum(kind.waiting for kind in kinds)
        failing = sum(data_type.failing for data_type in types)
        return (
            f"{counted(self.market.items, 'item')} watched, {share(self.market.within_ttl)} within TTL,"
            f" {sum(data_type.per_minute for data_type in types):.0f} refreshes/min, {failing} failing;"
            f" jobs: {waiting} waiting, {running} running, {sum(kind.completed for kind in kinds)} completed"
            f" ({sum(kind.rate for kind in kinds):.0f}/s), {sum(kind.failed for kind in kinds)} dead letters,"
            f" {sum(not worker.silent for worker in self.figures.workers)} workers"
            + "".join(f"; changed {change.line}" for change in self.news.changes[:1])
        )


def draw(
    title: str,
    seen: Seen | None,
    *,
    width: int = 100,
    age: float = 0.0,
    lost: str | None = None,
    events: Iterable[str] = (),
    hints: Iterable[str] = (),
) -> "Group":
    """One moment. Old figures are shown with their age, and `?` where they are too old to be true.

    What has been lately is shown as far as the width allows.
    """
    from rich.console import Group
    from rich.text import Text

    old = age > OLD or lost is not None
    bars = min(HISTORY, max(0, width - _WITHOUT_BARS))
    parts: list[RenderableType] = [Text(title, style="bold"), Text("")]
    if old:
        unseen, why = shown_duration(timedelta(seconds=round(age))), lost or "the database does not answer"
        parts += [Text(f"NO FIGURES FOR {unseen}: {why}", style="bold red")]
        parts += [Text("what is below is that old" if seen else "nothing was read yet", style="red"), Text("")]
    if seen is not None:
        parts += [*_wrong(seen.troubles), _types(seen.market.types, bars=bars, old=old), Text("")]
        parts += [_budgets(seen.market), Text(""), _changes(seen.news), Text("")]
        if seen.figures.kinds:
            parts += [_kinds(seen.figures.kinds, bars=bars), Text("")]
        parts += [_workers(seen.figures.workers, old=old), Text("")]
    parts += [Text(event) for event in events]
    parts += [Text(""), *(Text(hint, style="dim") for hint in hints)]
    return Group(*parts)


def drawn_progress(title: str, done: int, of: int, what: str, events: Iterable[str]) -> "Group":
    """What is being made ready, as a bar."""
    from rich.console import Group
    from rich.text import Text

    now = Text.assemble((bar(done / of), "cyan"), f"  {done} of {of}: {what} …")
    head = [Text(title, style="bold"), Text("")] if title else []
    return Group(*head, now, *(Text(event) for event in events))


def bar(used: float) -> str:
    """A share as a bar of twenty."""
    full = min(_BAR, max(0, round(used * _BAR)))
    return "█" * full + "░" * (_BAR - full)


def share(value: float | None) -> str:
    return "–" if value is None else shown_share(value)


def sparkline(values: Sequence[float], bars: int) -> str:
    """The last values as so many bars, the highest one full."""
    last = values[-bars:] if bars else ()
    top = max(last, default=0.0)
    if top <= 0:
        return ""
    return "".join(_BARS[round(value / top * (len(_BARS) - 1))] for value in last)


def _table(*columns: str, figures: Sequence[str] = (), header: bool = True) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0), show_header=header)
    for column in columns:
        is_figure = column in figures
        # A name may be cut where there is no room, a figure not.
        least = max(len(column), _FIGURE) if is_figure else None
        table.add_column(column, no_wrap=True, min_width=least, justify="right" if is_figure else "left")
    return table


def _wrong(troubles: Sequence[Trouble]) -> "list[RenderableType]":
    from rich.text import Text

    if not troubles:
        return []
    return [
        Text("what is wrong", style="bold red"),
        *(Text(trouble.line, style="yellow" if trouble.at else "red") for trouble in troubles),
        Text(""),
    ]


def _types(types: Sequence[TypeFigures], *, bars: int, old: bool) -> "Table":
    from rich.text import Text

    figures = ("watched", "viewers", "within TTL", "oldest", "per min", "failing", "refused")
    table = _table("type", *figures, "", figures=figures)
    for data_type in types:
        table.add_row(
            data_type.name,
            f"{data_type.items:,}",
            f"{data_type.viewers:,}",
            Text(
                "?" if old else share(data_type.within_ttl), style="red" if old else _share_style(data_type.within_ttl)
            ),
            "?" if old else _wait(data_type.oldest),
            f"{data_type.per_minute:.0f}",
            Text(f"{data_type.failing:,}", style="red" if data_type.failing else ""),
            Text(f"{data_type.refused:,}", style="yellow" if data_type.refused else ""),
            sparkline(data_type.rates, bars),
            style="dim" if old else None,
        )
    return table


def _share_style(within: float | None) -> str:
    if within is None:
        return ""
    return "green" if within >= _GOOD else "yellow" if within >= _FAIR else "red"


def _budgets(market: WatchedFigures) -> "Table":
    from rich.text import Text

    table = _table("", "", "", "", header=False)
    for budget in market.budgets:
        if budget.requests_per_minute is not None:
            used = budget.requests_last_minute / budget.requests_per_minute
            calls = f"{budget.requests_last_minute:,} of {budget.requests_per_minute:,} calls/min"
            waiting = f"{budget.waiting:,} waiting" if budget.waiting else ""
            table.add_row(budget.name, Text(bar(used), style=_used_style(used)), calls, waiting)
    for quota in market.quotas:
        if allowed := quota.allowed_bytes or quota.quota_bytes:
            used = quota.used_bytes / allowed
            spent = f"{shown_size(quota.used_bytes)} of {shown_size(allowed)}"
            table.add_row(quota.provider, Text(bar(used), style=_used_style(used)), spent, "")
    return table


def _used_style(used: float) -> str:
    return "red" if used >= _FULL else "yellow" if used >= _NEARLY_FULL else "cyan"


def _changes(news: News) -> "Table":
    from rich.text import Text

    table = _table("last changes")
    for change in news.changes:
        table.add_row(Text(change.line))
    return table


def _kinds(kinds: Sequence[KindFigures], *, bars: int) -> "Table":
    from rich.text import Text

    figures = ("waiting", "running", "completed", "dead", "per s", "start p50", "p99")
    table = _table("kind", *figures, "", figures=figures)
    for kind in kinds:
        p50, p99 = kind.latency or (None, None)
        table.add_row(
            kind.kind,
            *(f"{kind.waiting:,}", f"{kind.running:,}", f"{kind.completed:,}"),
            Text(f"{kind.failed:,}", style="red" if kind.failed else ""),
            *(f"{kind.rate:.1f}", _wait(p50), _wait(p99), sparkline(kind.rates, bars)),
        )
    return table


def _workers(workers: Sequence[WorkerFigures], *, old: bool) -> "Table":
    from rich.text import Text

    table = _table("worker, on all nodes", "slots", "")
    for worker in workers:
        state = "?" if old else worker.state
        table.add_row(worker.name, str(worker.slots), Text(state, style="red" if old or worker.silent else "green"))
    return table


def _wait(wait: timedelta | None) -> str:
    if wait is None:
        return "–"
    return shown_duration(timedelta(seconds=round(wait.total_seconds(), 1 if wait >= timedelta(seconds=1) else 3)))
