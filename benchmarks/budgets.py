"""Budgets beside the plain queue, a bare row, a bare question, and other limiters: every bar of the budgets room."""

import asyncio
import shutil

from benchmarks.field import own, python_peer
from benchmarks.harness import Bar, Contender, Context, Figures, Program, child_lines, plan_of, race
from benchmarks.solo import budgeted, permits, questions
from benchmarks.solo.queue import template
from benchmarks.stage.cache import Unavailable
from benchmarks.stage.report import print_figures

OURS = "livewell"
LIMIT_PER_MINUTE = 600
FULL = {"rate_seconds": 3.0, "window_seconds": 0.0, "limit": LIMIT_PER_MINUTE}
QUICK = {"rate_seconds": 1.0, "window_seconds": 0.0, "limit": LIMIT_PER_MINUTE}
SATURATED = {"rate_seconds": 0.0, "window_seconds": 130.0, "limit": LIMIT_PER_MINUTE}
MEASURES = ("grants", "worst_window")


def _limits() -> Program:
    if shutil.which("redis-server") is None:
        raise Unavailable("redis-server is not installed")
    return python_peer("limits_calls")()


LIMITERS = [
    Contender(
        name=OURS,
        prepare=own("permit_calls"),
        settings={"block": 1},
        note="one permit a call: granted, reserved and settled, every window held",
    ),
    Contender(
        name="pyrate-limiter",
        peer=True,
        prepare=python_peer("pyrate_calls"),
        note="PostgresBucket: a row per call, counted in its window; requests only",
    ),
    Contender(
        name="limits",
        peer=True,
        prepare=_limits,
        settings={"strategy": "moving-window"},
        note="Redis, its moving window; requests only",
    ),
    Contender(
        name="limits, fixed window",
        peer=True,
        prepare=_limits,
        settings={"strategy": "fixed-window"},
        note="Redis, its default strategy; requests only",
    ),
]


async def run(context: Context) -> None:
    context.versions["postgresql"] = await context.server.version()
    if context.wants("solo"):
        async with template(context):
            for measured in (budgeted.bars, permits.bars, questions.bars):
                context.bars += await measured(context)
    figures = await race(context, LIMITERS, QUICK if context.quick else FULL)
    if not context.quick:
        await _saturate(context, figures)
    if figures.samples:
        print_figures(context, figures, against=OURS, measures=MEASURES)
    if context.only is None and not context.quick:
        worst = figures.median(OURS, "worst_window")
        context.bars.append(
            Bar(
                name="permits one by one: worst minute / limit",
                value=None if worst is None else worst / LIMIT_PER_MINUTE,
                at_most=1.0,
                note=f"saturated for {SATURATED['window_seconds']:.0f} s at {LIMIT_PER_MINUTE} a minute",
            )
        )


async def _saturate(context: Context, figures: Figures) -> None:
    """All limiters side by side: each mostly waits, so that none takes anything from another."""
    async with asyncio.TaskGroup() as tasks:
        for limiter in LIMITERS:
            if limiter.name in figures.samples:
                tasks.create_task(_worst_window(context, limiter, figures))


async def _worst_window(context: Context, limiter: Contender, figures: Figures) -> None:
    program = await asyncio.to_thread(limiter.prepare)
    async with context.server.database(f"saturated_{limiter.name}") as url:
        async for line in child_lines(program, url, plan_of(context, limiter, SATURATED)):
            if "measure" in line:
                figures.add(limiter.name, line["measure"], line["value"], line["unit"])
                context.rows.append({"contender": limiter.name, **line, "sizes": SATURATED})
