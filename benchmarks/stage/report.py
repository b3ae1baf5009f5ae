"""The table a person reads and the file a program reads."""

import json
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from benchmarks.harness import Context, Figures
from benchmarks.stage.cache import ROOT
from benchmarks.stage.machine import machine

RESULTS = ROOT / "benchmarks" / "results"


def print_figures(context: Context, figures: Figures, *, against: str, measures: Sequence[str]) -> None:
    """One line per contender, with each figure's ratio to one of them."""
    table = Table(title=f"{context.name}: medians of {context.rounds} round(s), × = ratio to {against}")
    table.add_column("contender")
    for measure in measures:
        table.add_column(f"{measure}\n({figures.units.get(measure, '-')})", justify="right")
    for contender in figures.samples:
        table.add_row(contender, *(_cell(figures, contender, measure, against) for measure in measures))
    context.console.print(table)


def _cell(figures: Figures, contender: str, measure: str, against: str) -> str:
    value = figures.median(contender, measure)
    if value is None:
        return "-"
    ratio = figures.ratio(contender, measure, against)
    shown = f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"
    return shown if ratio is None else f"{shown}\n× {ratio:.2f}"


def print_bars(context: Context) -> None:
    if not context.bars:
        return
    table = Table(title=f"{context.name}: bars")
    for heading in ("bar", "value", "target", "", "note"):
        table.add_column(heading)
    for bar in context.bars:
        verdict = "[green]holds[/]" if bar.holds else "[bold white on red] MISSED [/]"
        shown = "not measured" if bar.value is None else f"{bar.value:.2f}"
        table.add_row(bar.name, shown, bar.target, verdict, bar.note)
    context.console.print(table)
    missed = [bar for bar in context.bars if not bar.holds]
    if missed:
        context.say(f"[bold red]{len(missed)} of {len(context.bars)} bars MISSED:[/]")
        for bar in missed:
            context.say(f"[bold red]  {bar.name}: {_shortfall(bar.value)} against {bar.target}[/]")


def _shortfall(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"


def write_results(context: Context) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{context.name}.json"
    results = {
        "name": context.name,
        "quick": context.quick,
        "machine": machine(),
        "versions": dict(sorted(context.versions.items())),
        "rows": context.rows,
        "bars": [
            {
                "name": bar.name,
                "value": None if bar.value is None else round(bar.value, 3),
                "target": bar.target,
                "holds": bar.holds,
                **({"note": bar.note} if bar.note else {}),
            }
            for bar in context.bars
        ],
    }
    path.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
