"""Draws the pictures of the manual: `python -m livewell.cli.tests.pictures` writes them, a test holds them true.

The terminal is what `livewell up --watch` shows, drawn by the code that draws it, from figures that were read while the
demonstration ran and one of its workers had been killed (`terminal_figures.json`). The walk of a datum is drawn here,
once for light pages and once for dark ones.
"""

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from pydantic import TypeAdapter
from rich.console import Console

from livewell.budgets import BudgetState, QuotaState
from livewell.cli.news import News
from livewell.cli.picture import Seen, draw
from livewell.cli.queue_figures import Figures
from livewell.cli.type_figures import TypeFigures, WatchedFigures

FOLDER = Path(__file__).resolve().parents[4] / "docs" / "pictures"
_FIGURES = Path(__file__).with_name("terminal_figures.json")
_TITLE = "up: checker, worker (Ctrl-C ends it)"
# A page of the manual asks no other host for anything, not for a font either.
_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def terminal() -> str:
    """What a person sees who watches."""
    read = json.loads(_FIGURES.read_text())
    market = WatchedFigures(
        types=TypeAdapter(list[TypeFigures]).validate_python(read["market"]["types"]),
        budgets=TypeAdapter(list[BudgetState]).validate_python(read["market"]["budgets"]),
        quotas=TypeAdapter(list[QuotaState]).validate_python(read["market"]["quotas"]),
    )
    seen = Seen(
        figures=TypeAdapter(Figures).validate_python(read["figures"]),
        market=market,
        news=TypeAdapter(News).validate_python(read["news"]),
    )
    screen = Console(record=True, width=100, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    screen.print(draw(_TITLE, seen))
    svg = screen.export_svg(title="livewell up --watch", unique_id="terminal")
    return _FONT_FACE.sub("", svg).replace("Fira Code", "ui-monospace").replace("arial;", "sans-serif;") + "\n"


@dataclass(frozen=True, kw_only=True)
class _Paint:
    """The colours of one page."""

    ink: str
    faint: str
    box: str
    edge: str
    room: str
    outside: str


LIGHT = _Paint(ink="#1b2a2f", faint="#52656b", box="#ffffff", edge="#9fb4b8", room="#00695c", outside="#fff6e5")
DARK = _Paint(ink="#e6eef0", faint="#a9bcc1", box="#22303a", edge="#5d7680", room="#5fd3c1", outside="#40361f")

_WIDE, _HIGH, _GAP, _EDGE = 210, 96, 34, 14
_ROWS = (_EDGE, 168, 322)


@dataclass(frozen=True, kw_only=True)
class _Step:
    """A box: where it stands, whose it is, what happens in it."""

    column: int
    row: int
    room: str
    title: str
    lines: Sequence[str]
    outside: bool = False

    @property
    def x(self) -> int:
        return _EDGE + self.column * (_WIDE + _GAP)

    @property
    def y(self) -> int:
        return _ROWS[self.row]


STEPS = (
    _Step(
        column=0,
        row=0,
        room="your page",
        title="Somebody looks",
        lines=("subscribes to quote AAPL,", "and sees it change"),
        outside=True,
    ),
    _Step(
        column=1,
        row=0,
        room="presence",
        title="1  Counted",
        lines=("one viewer more of this item;", "gone ones are swept"),
    ),
    _Step(column=2, row=0, room="freshness", title="2  Due?", lines=("stale, gate open,", "and worth its bytes now")),
    _Step(column=3, row=0, room="jobs", title="3  Queued", lines=("one refresh per item,", "however many look")),
    _Step(
        column=3,
        row=1,
        room="budgets",
        title="4  Claimed",
        lines=("only what fits: rate, tokens,", "concurrency, byte quota"),
    ),
    _Step(
        column=2,
        row=1,
        room="worker, fetching",
        title="5  Fetched",
        lines=("asks for several keys at once,", "only for what is newer"),
    ),
    _Step(
        column=1,
        row=1,
        room="fetching",
        title="6  Checked",
        lines=("what does not fit its model", "is refused, with the reason"),
    ),
    _Step(
        column=0,
        row=1,
        room="one transaction",
        title="7  Stored",
        lines=("rows, end of the job, budget,", "what was learned, the news"),
    ),
    _Step(
        column=2,
        row=2,
        room="somebody else's",
        title="The provider",
        lines=("never called beyond its limits,", "by any number of processes"),
        outside=True,
    ),
)


def walk(paint: _Paint) -> str:
    """The walk of a datum, from a look to a fresh value."""
    wide, high = 2 * _EDGE + 4 * _WIDE + 3 * _GAP, _ROWS[2] + _HIGH + _EDGE
    fonts = "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"
    size = f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
    tip = 'id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{fonts}">',
        "<title>The walk of a datum: from a look to a fresh value</title>",
        f'<defs><marker {tip}><path d="M 0 0 L 10 5 L 0 10 z" fill="{paint.room}"/></marker></defs>',
        *(line for step in STEPS for line in _box(step, paint)),
        *(_arrow(*ends, paint) for ends in _arrows()),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _box(step: _Step, paint: _Paint) -> list[str]:
    fill = paint.outside if step.outside else paint.box
    dash = ' stroke-dasharray="5 4"' if step.outside else ""
    edge = f'fill="{fill}" stroke="{paint.edge}" stroke-width="1.5"{dash}'
    x, y = step.x + 14, step.y
    return [
        f'<rect x="{step.x}" y="{y}" width="{_WIDE}" height="{_HIGH}" rx="9" {edge}/>',
        _text(x, y + 21, step.room, f'font-size="12" fill="{paint.room}"'),
        _text(x, y + 43, step.title, f'font-size="17" font-weight="600" fill="{paint.ink}"'),
        *(
            _text(x, y + 64 + 18 * number, line, f'font-size="13" fill="{paint.faint}"')
            for number, line in enumerate(step.lines)
        ),
    ]


def _text(x: int, y: int, said: str, style: str) -> str:
    return f'<text x="{x}" y="{y}" {style}>{escape(said)}</text>'


def _arrows() -> list[tuple[tuple[int, int], tuple[int, int], bool]]:
    """From where to where, and whether it goes both ways."""
    by_place = {(step.column, step.row): step for step in STEPS}
    middle = _HIGH // 2
    right = [by_place[column, 0] for column in range(3)]
    left = [by_place[column, 1] for column in (3, 2, 1)]
    fetch, queue, store = by_place[2, 1], by_place[3, 0], by_place[0, 1]
    return [
        *(((box.x + _WIDE, box.y + middle), (box.x + _WIDE + _GAP, box.y + middle), False) for box in right),
        ((queue.x + _WIDE // 2, queue.y + _HIGH), (queue.x + _WIDE // 2, _ROWS[1]), False),
        *(((box.x, box.y + middle), (box.x - _GAP, box.y + middle), False) for box in left),
        ((fetch.x + _WIDE // 2, fetch.y + _HIGH), (fetch.x + _WIDE // 2, _ROWS[2]), True),
        ((store.x + _WIDE // 2, store.y), (store.x + _WIDE // 2, _ROWS[0] + _HIGH), False),
    ]


def _arrow(start: tuple[int, int], end: tuple[int, int], both: bool, paint: _Paint) -> str:
    tips = ' marker-end="url(#tip)"' + (' marker-start="url(#tip)"' if both else "")
    ends = f'x1="{start[0]}" y1="{start[1]}" x2="{end[0]}" y2="{end[1]}"'
    return f'<line {ends} stroke="{paint.room}" stroke-width="2"{tips}/>'


PICTURES: Mapping[str, Callable[[], str]] = {
    "terminal.svg": terminal,
    "walk-light.svg": lambda: walk(LIGHT),
    "walk-dark.svg": lambda: walk(DARK),
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, drawn in PICTURES.items():
        (FOLDER / name).write_text(drawn())


if __name__ == "__main__":
    main()
