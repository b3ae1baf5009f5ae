"""Contenders run alternately in one run; each run of one is a child process on a fresh database.

A figure is the median over the rounds. A contender that cannot be installed here is left out and said so; one that
fails is reported as failed, and the bars that need it do not hold.
"""

import asyncio
import json
import os
import signal
import statistics
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from rich.console import Console

from benchmarks.stage.cache import ROOT, Unavailable
from benchmarks.stage.server import Server

CHILD_LIMIT = 600.0


Size = Literal["full", "quick", "smoke"]


class Benchmark(Protocol):
    """A module that can be run by name."""

    async def run(self, context: "Context") -> None: ...


class ContenderFailed(Exception):
    """A child process ended badly or said nothing for too long."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """A child process to start."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One side of a comparison: how to get its program, its documented settings, and where its plan differs."""

    name: str
    prepare: Callable[[], Program]
    settings: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] = field(default_factory=dict)
    quick_plan: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    peer: bool = False


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A ratio and what it must reach; `at_least` and `at_most` exclude each other."""

    name: str
    value: float | None
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def target(self) -> str:
        return f">= {self.at_least}" if self.at_least is not None else f"<= {self.at_most}"

    @property
    def holds(self) -> bool:
        if self.value is None:
            return False
        return self.value >= self.at_least if self.at_least is not None else self.value <= (self.at_most or 0.0)


@dataclass(kw_only=True)
class Context:
    """One run of one benchmark: what it may use, and what it found."""

    name: str
    size: Size
    only: str | None
    server: Server
    console: Console
    rows: list[dict[str, Any]] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def quick(self) -> bool:
        """Smaller sizes and one round; so is a smoke run, of which nobody wants the figures."""
        return self.size != "full"

    @property
    def smoke(self) -> bool:
        return self.size == "smoke"

    @property
    def rounds(self) -> int:
        return 1 if self.quick else 3

    def wants(self, name: str) -> bool:
        return self.only is None or self.only == name

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False)


def require_nothing_failed(context: Context) -> None:
    """A contender that failed ends a smoke run badly: that it runs is all that was asked."""
    failed = [row for row in context.rows if "failed" in row]
    if failed:
        raise ContenderFailed(f"{context.name}: {failed}")


@dataclass(kw_only=True)
class Figures:
    """Samples by contender and measure."""

    samples: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    def add(self, contender: str, measure: str, value: float, unit: str) -> None:
        self.samples.setdefault(contender, {}).setdefault(measure, []).append(value)
        self.units[measure] = unit

    def median(self, contender: str, measure: str) -> float | None:
        values = self.samples.get(contender, {}).get(measure)
        return statistics.median(values) if values else None

    def best(self, contenders: Sequence[str], measure: str) -> tuple[str, float] | None:
        """Who has the highest figure among these, and which."""
        found = [(name, value) for name in contenders if (value := self.median(name, measure)) is not None]
        return max(found, key=lambda pair: pair[1]) if found else None

    def ratio(self, contender: str, measure: str, against: str) -> float | None:
        mine, theirs = self.median(contender, measure), self.median(against, measure)
        return mine / theirs if mine is not None and theirs else None


async def race(context: Context, contenders: Sequence[Contender], plan: Mapping[str, Any]) -> Figures:
    """All contenders in turn, round after round."""
    figures = Figures()
    ready = await _prepared(context, [each for each in contenders if context.wants(each.name)])
    failed: set[str] = set()
    for round_number in range(1, context.rounds + 1):
        for contender, program in ready:
            if contender.name in failed:
                continue
            started = time.monotonic()
            try:
                await _one_run(context, contender, program, plan, figures)
                took = time.monotonic() - started
                context.say(f"[dim]round {round_number}/{context.rounds}: {contender.name}, {took:.1f} s[/]")
            except ContenderFailed as failure:
                failed.add(contender.name)
                context.say(f"[bold red]{contender.name} failed:[/] {failure}")
                context.rows.append({"contender": contender.name, "failed": without_paths(str(failure))})
    _add_rows(context, [contender for contender, _ in ready], plan, figures)
    return figures


async def _prepared(context: Context, contenders: Sequence[Contender]) -> list[tuple[Contender, Program]]:
    ready = []
    for contender in contenders:
        if context.smoke and contender.peer:
            continue
        try:
            ready.append((contender, await asyncio.to_thread(contender.prepare)))
        except Unavailable as reason:
            context.say(f"[bold yellow]{contender.name} is left out:[/] {reason}")
            context.rows.append({"contender": contender.name, "left_out": without_paths(str(reason))})
    return ready


async def _one_run(
    context: Context, contender: Contender, program: Program, plan: Mapping[str, Any], figures: Figures
) -> None:
    full = plan_of(context, contender, plan)
    async with context.server.database(f"bench_{contender.name}") as url:
        async for line in child_lines(program, url, full):
            if "version" in line:
                context.versions[contender.name] = line["version"]
            else:
                figures.add(contender.name, line["measure"], line["value"], line["unit"])


def plan_of(context: Context, contender: Contender, plan: Mapping[str, Any]) -> dict[str, Any]:
    quick = contender.quick_plan if context.quick else {}
    full = {**plan, **contender.plan, **quick}
    return {**(_hundredth(full) if context.smoke else full), "settings": dict(contender.settings)}


def _hundredth(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Counts of hundreds and more, cut down; what is small already stays."""
    return {
        name: max(10, size // 100) if isinstance(size, int) and size >= 100 else size for name, size in plan.items()
    }


async def child_lines(program: Program, url: str, plan: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Start the child and yield the JSON objects it prints; it is ended when the reader leaves."""
    environment = {
        **os.environ,
        **program.environment,
        "BENCH_DSN": url,
        "BENCH_PLAN": json.dumps(plan),
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src"))),
    }
    child = await asyncio.create_subprocess_exec(
        *program.command, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    if child.stdout is None or child.stderr is None:
        raise ContenderFailed("it was started without pipes")
    errors = asyncio.create_task(child.stderr.read())
    try:
        async with asyncio.timeout(CHILD_LIMIT):
            async for line in child.stdout:
                if line.startswith(b"{"):
                    yield json.loads(line)
            status = await child.wait()
    except TimeoutError as limit:
        raise ContenderFailed(f"not done within {CHILD_LIMIT:.0f} s") from limit
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.send_signal(signal.SIGKILL)
            await child.wait()
    if status:
        raise ContenderFailed((await errors).decode(errors="replace").strip()[-1500:] or f"exit status {status}")


def _add_rows(context: Context, contenders: Sequence[Contender], plan: Mapping[str, Any], figures: Figures) -> None:
    for contender in contenders:
        used = plan_of(context, contender, plan)
        sizes = {name: value for name, value in used.items() if name != "settings"}
        for measure, values in figures.samples.get(contender.name, {}).items():
            context.rows.append(
                {
                    "contender": contender.name,
                    "measure": measure,
                    "median": round(statistics.median(values), 3),
                    "unit": figures.units[measure],
                    "samples": [round(value, 3) for value in values],
                    "sizes": sizes,
                    "settings": dict(contender.settings),
                    **({"note": contender.note} if contender.note else {}),
                }
            )


def without_paths(text: str) -> str:
    """The last line of a complaint, for the result file, which names no folder of this machine."""
    lines = text.replace(str(ROOT), ".").strip().splitlines()
    return lines[-1][-300:] if lines else ""
