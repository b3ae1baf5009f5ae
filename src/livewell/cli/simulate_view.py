"""The pretend provider on a terminal: a line per endpoint; for machines, a JSON document per line."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from livewell.cli.output import console, say, shown_json
from livewell.kernel import shown_size

if TYPE_CHECKING:
    from rich.console import Group, JustifyMethod

    from livewell.simulator import EndpointFigures, Simulator

_COLUMNS = ("endpoint", "calls", "/s", "limit", "worst", "over", "now", "sent", "statuses", "faults")
_WORDY = 2


class View(Protocol):
    """Where a simulator shows itself; an agent, which looks once a second."""

    @property
    def name(self) -> str: ...

    @property
    def interval(self) -> timedelta: ...

    async def run_once(self) -> object: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def view_for(simulator: "Simulator", *, as_json: bool) -> View:
    """A live table where somebody watches, else lines."""
    if not as_json and console().is_terminal:
        return LiveView(simulator)
    return LineView(simulator, as_json=as_json)


class LineView:
    """Where it listens, then what changed: a line per endpoint that was called since."""

    name = "simulator_view"
    interval = timedelta(seconds=1)

    def __init__(self, simulator: "Simulator", *, as_json: bool) -> None:
        self._simulator = simulator
        self._as_json = as_json
        self._told: dict[str, EndpointFigures] = {}

    async def run_once(self) -> None:
        for endpoint, figures in self._simulator.figures().items():
            if figures != self._told.get(endpoint) and figures.calls:
                self._told[endpoint] = figures
                self._tell({"event": "figures", **asdict(figures)}, _line(figures))

    def _tell(self, document: dict[str, Any], line: str) -> None:
        say(shown_json(document) if self._as_json else line)
        sys.stdout.flush()

    def __enter__(self) -> Self:
        options, url = self._simulator.options, self._simulator.url
        document = {
            "event": "listening",
            "url": url,
            "seed": options.seed,
            "symbols": len(self._simulator.world.symbols),
        }
        self._tell(document, _title(self._simulator))
        return self

    def __exit__(self, *_: object) -> None:
        pass


class LiveView:
    """A table that renews itself."""

    name = "simulator_view"
    interval = timedelta(seconds=1)

    def __init__(self, simulator: "Simulator") -> None:
        from rich.live import Live

        self._simulator = simulator
        self._before: dict[str, int] = {}
        self._live = Live(self._picture(), console=console(), auto_refresh=False)

    async def run_once(self) -> None:
        self._live.update(self._picture(), refresh=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _picture(self) -> "Group":
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for number, column in enumerate(_COLUMNS):
            justify: JustifyMethod = "right" if 0 < number < len(_COLUMNS) - _WORDY else "left"
            table.add_column(column, justify=justify, no_wrap=True)
        for figures in self._simulator.figures().values():
            table.add_row(*(Text(cell) for cell in self._cells(figures)))
        example = Text(f"curl {self._simulator.url}/api/v3/quote/AAPL,MSFT", style="dim")
        return Group(Text(_title(self._simulator), style="bold"), Text(""), table, Text(""), example)

    def _cells(self, figures: "EndpointFigures") -> Sequence[str]:
        rate = figures.calls - self._before.get(figures.endpoint, figures.calls)
        self._before[figures.endpoint] = figures.calls
        return (
            figures.endpoint,
            f"{figures.calls:,}",
            f"{rate:,}",
            "–" if figures.limit is None else f"{figures.limit:,}",
            f"{figures.worst_window:,}",
            f"{figures.over_limit:,}",
            f"{figures.in_flight:,}",
            shown_size(figures.bytes_out) or "–",
            _counts(figures.statuses),
            _counts(figures.faults),
        )


def _title(simulator: "Simulator") -> str:
    count = len(simulator.world.symbols)
    return f"simulator on {simulator.url} · seed {simulator.options.seed} · {count:,} symbols · Ctrl-C ends it"


def _line(figures: "EndpointFigures") -> str:
    limit = "" if figures.limit is None else f" of {figures.limit:,}"
    return (
        f"{figures.endpoint}: {figures.calls:,} calls, worst minute {figures.worst_window:,}{limit},"
        f" {figures.over_limit:,} over limit, {shown_size(figures.bytes_out)} sent, {_counts(figures.statuses)}"
    )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} × {number:,}" for name, number in counts.items()) or "–"
