"""How long a command line takes: `--help` and reading commands, beside psql and a Typer program that does nothing.

Every line is a process on an idle server, started in turn, round after round, from the second on (the first fills the
caches of the system). Wall time is what a person waits; CPU time is what it takes of the machine, and holds still on a
busy one.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.harness import Bar, ContenderFailed, Context, Figures
from benchmarks.stage.cache import ROOT
from benchmarks.stage.report import print_figures
from benchmarks.stage.server import programs
from livewell.kernel import migrate

SAMPLES_A_ROUND = {"full": 5, "quick": 2, "smoke": 1}
READING = (
    *("jobs list", "jobs stats", "kinds list", "workers", "tasks list", "providers list", "endpoints list", "budgets"),
    *("api-keys list", "types list", "keys list", "freshness", "warnings", "viewers", "sessions list", "settings list"),
    *("maintenance status", "audit list"),
)
HELP = "livewell --help"
BARE = "bare Typer, a command"
PSQL = 'psql -c "select 1"'


@dataclass(frozen=True, kw_only=True)
class Took:
    """What one process took, in seconds."""

    wall: float
    cpu: float


async def run(context: Context) -> None:
    context.versions |= {"postgresql": await context.server.version(), "typer": version("typer")}
    async with context.server.database("bench_cli") as url:
        await migrate(url)
        lines = {name: line for name, line in _lines(url).items() if context.wants(name)}
        if PSQL not in lines:
            context.say(f"[bold yellow]{PSQL} is left out:[/] there is no psql")
            context.rows.append({"contender": PSQL, "left_out": "there is no psql"})
        figures = await _figures(context, lines, {**os.environ, "DATABASE_URL": url})
    print_figures(context, figures, against=BARE, measures=("wall", "cpu"))
    _add_rows(context, figures)
    reading = [(name, wall) for name in lines if name in _reading() and (wall := figures.median(name, "wall"))]
    slowest = max(reading, key=lambda pair: pair[1], default=("none", None))
    context.bars += [
        Bar(name="livewell --help, in seconds", value=figures.median(HELP, "wall"), at_most=0.25),
        Bar(name="the slowest reading command, in seconds", value=slowest[1], at_most=0.5, note=slowest[0]),
    ]


def _reading() -> Mapping[str, str]:
    return {f"livewell {line}": line for line in READING}


def _lines(url: str) -> dict[str, Sequence[str]]:
    """The command lines by name, in the order they are run."""
    psql = shutil.which("psql") or str(programs() / "psql")
    bare = [sys.executable, str(ROOT / "benchmarks" / "contenders" / "bare_typer.py")]
    livewell = [str(Path(sys.executable).with_name("livewell"))]
    return {
        **({PSQL: [psql, "-X", "-c", "select 1", url]} if Path(psql).exists() else {}),
        "bare Typer, --help": [*bare, "--help"],
        BARE: [*bare, "list"],
        HELP: [*livewell, "--help"],
        **{name: [*livewell, *line.split()] for name, line in _reading().items()},
    }


async def _figures(context: Context, lines: Mapping[str, Sequence[str]], environment: Mapping[str, str]) -> Figures:
    figures = Figures()
    for sample in range(SAMPLES_A_ROUND[context.size] * context.rounds + (0 if context.smoke else 1)):
        for name, line in lines.items():
            took = await asyncio.to_thread(_took, line, environment)
            if sample or context.smoke:
                figures.add(name, "wall", took.wall, "s")
                figures.add(name, "cpu", took.cpu, "s")
    return figures


def _took(line: Sequence[str], environment: Mapping[str, str]) -> Took:
    began = time.perf_counter()
    process = subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read() if process.stderr else b""
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise ContenderFailed(f"{' '.join(line[1:3])}: {said.decode(errors='replace').strip()[-300:]}")
    return Took(wall=wall, cpu=used.ru_utime + used.ru_stime)


def _add_rows(context: Context, figures: Figures) -> None:
    for name, measures in figures.samples.items():
        for measure, values in measures.items():
            median = figures.median(name, measure)
            context.rows.append(
                {
                    "contender": name,
                    "measure": measure,
                    "median": None if median is None else round(median, 3),
                    "unit": figures.units[measure],
                    "samples": [round(value, 3) for value in values],
                }
            )
