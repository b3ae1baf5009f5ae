"""Freshness under a budget for half the demand: the seeds' rule, `contract` and `observed` in one world, side by side.

The pure policy is replayed over days on seeds that were not used for tuning; the SQL engine over hours of a smaller
world, beside the pure policy in that world, because the long runs stand for it only as long as both do alike.
"""

import asyncio
import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace

from rich.table import Table

from benchmarks.harness import Bar, Context
from benchmarks.replay.engine import Course, Faults, Replayed, replay_engine
from benchmarks.replay.meter import Figures
from benchmarks.replay.pure import Rules, replay, replay_seed
from benchmarks.replay.world import Scale, make_world, smaller
from benchmarks.solo.queue import TEMPLATE, template

SEEDS = (101, 102, 103, 104, 105)
SEEDS_RULE, LOOKING, BATCHED = "seeds' rule", "observed, 304", "observed, 304, 20 a request"
JUDGED = {
    SEEDS_RULE: Rules(rule="viewers", passes_over=False),
    LOOKING: Rules(rule="observed", conditional=True),
    BATCHED: Rules(rule="observed", conditional=True, batches=True),
}
BESIDE = {
    "seeds' rule, our claim": Rules(rule="viewers"),
    "seeds' rule, our claim, 304": Rules(rule="viewers", conditional=True),
    "seeds' rule, our claim, 304, 20 a request": Rules(rule="viewers", conditional=True, batches=True),
    "contract": Rules(rule="contract"),
    "contract, 304": Rules(rule="contract", conditional=True),
    "observed": Rules(rule="observed"),
    "observed, 304, rates given": Rules(rule="observed", conditional=True, true_rates=True),
}
UNPACED = {"seeds' rule, not paced": Rules(rule="viewers", paced=False, passes_over=False)}

ENGINE_SEED = 107
# A fifth of the world, from the forenoon on, when most look, with little saved up: bytes and requests both bind.
ENGINE_SCALE = replace(smaller(5), begins=9.0, bucket_hours=4.0)
ENGINE_RULES = {
    "seeds' rule, our claim": Rules(rule="viewers"),
    "contract, 304": Rules(rule="contract", conditional=True),
    LOOKING: Rules(rule="observed", conditional=True),
    BATCHED: Rules(rule="observed", conditional=True, batches=True),
}
FAULTS = Faults(killed_share=0.01, storm_every=120, storm_minutes=5)
TOLERANCE = 0.03
WAIT_TOLERANCE = 0.25
SHORT_WAIT = 10.0
KEPT_WITH_JUNK = 0.95


@dataclass(frozen=True, kw_only=True)
class Size:
    """How many days and seeds the pure policy sees, how many hours the engine, and beside how many junk users."""

    days: float
    long_days: float
    seeds: Sequence[int]
    engine_hours: float
    engine_warm_up: int
    junk_users: Sequence[int]


FULL = Size(days=5, long_days=31, seeds=SEEDS, engine_hours=2, engine_warm_up=30, junk_users=(1, 10, 100))
QUICK = Size(days=3, long_days=0, seeds=SEEDS[:1], engine_hours=1, engine_warm_up=15, junk_users=(10,))

SMOKE = Size(days=2, long_days=0, seeds=SEEDS[:1], engine_hours=0.1, engine_warm_up=2, junk_users=(1,))

SHOWN = ("ok", "within_ttl", "ok_lone", "w99", "worst_hour", "dark_hours", "gigabytes", "requests", "unchanged")

Runs = dict[tuple[str, int, float], Figures]


async def run(context: Context) -> None:
    size = {"full": FULL, "quick": QUICK, "smoke": SMOKE}[context.size]
    context.versions["postgresql"] = await context.server.version()
    processes = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    try:
        pure = asyncio.create_task(_pure(processes, size)) if context.only in {None, "pure"} else None
        engine = await _engine(context, size) if context.only in {None, "engine"} else []
        engine += await _crowds(context, size) if context.only in {None, "junk"} else []
        runs = await pure if pure is not None else {}
    finally:
        processes.shutdown(cancel_futures=True)
    _show(context, runs)
    if runs:
        context.bars += [*_judged(runs, size), *_safe(runs)]
    context.bars += engine


async def _pure(processes: Executor, size: Size) -> Runs:
    """Every run of the pure policy, by name, seed and days."""
    wanted = [(name, rules, seed, size.days) for seed in size.seeds for name, rules in JUDGED.items()]
    wanted += [(name, rules, size.seeds[0], size.days) for name, rules in BESIDE.items()]
    if size.long_days:
        for name, rules in {LOOKING: JUDGED[LOOKING], **UNPACED}.items():
            wanted.append((name, rules, size.seeds[0], size.long_days))
    loop = asyncio.get_running_loop()
    found = await asyncio.gather(
        *(loop.run_in_executor(processes, replay_seed, seed, days, rules) for _, rules, seed, days in wanted)
    )
    return {(name, seed, days): each for (name, _, seed, days), each in zip(wanted, found, strict=True)}


def _show(context: Context, runs: Runs) -> None:
    """A line per run; the rows of the result file say the same."""
    if not runs:
        return
    scale = Scale()
    table = Table("rule", "seed", "days", *SHOWN, title=f"{scale.keys} keys, {scale.viewers:.0f} viewers")
    for (name, seed, days), figures in runs.items():
        row = figures.row()
        table.add_row(name, str(seed), f"{days:g}", *(f"{row[head]:g}" for head in SHOWN))
        context.rows.append({"contender": name, "seed": seed, "days": days, "keys": scale.keys, **row})
    context.console.print(table)


def _worst(runs: Runs, name: str, size: Size) -> dict[int, Figures]:
    return {seed: runs[name, seed, size.days] for seed in size.seeds}


def _judged(runs: Runs, size: Size) -> list[Bar]:
    looking, batched = _worst(runs, LOOKING, size), _worst(runs, BATCHED, size)
    seeds_rule = _worst(runs, SEEDS_RULE, size)
    ahead = {seed: looking[seed].ok - seeds_rule[seed].ok for seed in looking}
    given = looking[size.seeds[0]].ok - runs["seeds' rule, our claim, 304", size.seeds[0], size.days].ok
    return [
        _lowest("OK with conditional requests, worst seed", {s: f.ok for s, f in looking.items()}, 0.92),
        _highest("W99 with conditional requests, worst seed (min)", {s: f.w99 for s, f in looking.items()}, 12.0),
        _lowest(
            "ahead of the seeds' rule, worst seed",
            ahead,
            0.10,
            f"; given conditional requests and our claim the seeds' rule would be {given:.3f} behind",
        ),
        _lowest("OK with 20 keys a request, worst seed", {s: f.ok for s, f in batched.items()}, 0.95),
        _highest("W99 with 20 keys a request, worst seed (min)", {s: f.w99 for s, f in batched.items()}, 10.0),
    ]


def _lowest(name: str, values: Mapping[int, float], bar: float, more: str = "") -> Bar:
    return Bar(name=name, value=min(values.values()), at_least=bar, note=_each(values) + more)


def _highest(name: str, values: Mapping[int, float], bar: float) -> Bar:
    return Bar(name=name, value=max(values.values()), at_most=bar, note=_each(values))


def _each(values: Mapping[int, float]) -> str:
    return "by seed " + ", ".join(f"{seed}: {value:.3f}" for seed, value in values.items())


def _safe(runs: Runs) -> list[Bar]:
    paced = {name: figures for name, figures in runs.items() if name[0] not in UNPACED}
    longest = max(days for _, _, days in paced)
    note = f"{len(paced)} runs, the longest {longest:g} days"
    return [
        Bar(name="dark hours, all paced runs", value=sum(f.dark_hours for f in paced.values()), at_most=0.0, note=note),
        Bar(name="dark days, all paced runs", value=sum(f.dark_days for f in paced.values()), at_most=0.0, note=note),
        Bar(
            name="bytes over the quota in any 30 days, all runs",
            value=max(f.over_quota for f in runs.values()),
            at_most=0.0,
            note=note,
        ),
    ]


async def _engine(context: Context, size: Size) -> list[Bar]:
    world = make_world(ENGINE_SEED, size.engine_hours / 24, ENGINE_SCALE)
    course = Course(warm_up=size.engine_warm_up)
    bars: list[Bar] = []
    whole: dict[str, Replayed] = {}
    async with template(context):
        for name, rules in ENGINE_RULES.items():
            if context.quick and name not in {LOOKING, BATCHED}:
                continue
            pure = await asyncio.to_thread(replay, world, rules, warm_up=course.warm_up, ticks=course.ticks)
            async with context.server.database("replay", template=TEMPLATE) as url:
                engine = whole[name] = await replay_engine(url, world, rules, course)
            _engine_rows(context, name, size, pure, engine)
            bars += _alike(name, pure, engine.figures)
        async with context.server.database("replay", template=TEMPLATE) as url:
            hurt = await replay_engine(url, world, ENGINE_RULES[LOOKING], replace(course, faults=FAULTS))
        _engine_rows(context, f"{LOOKING}, kills and 429s", size, None, hurt)
    return [*bars, *_engine_safe(whole, hurt)]


async def _crowds(context: Context, size: Size) -> list[Bar]:
    """The engine with so many users who watch a thousand keys each that are not there; without any first."""
    world = make_world(ENGINE_SEED, size.engine_hours / 24, ENGINE_SCALE)
    crowds: dict[int, Replayed] = {}
    async with template(context):
        for users in (0, *size.junk_users):
            course = Course(warm_up=size.engine_warm_up, junk_users=users)
            async with context.server.database("replay", template=TEMPLATE) as url:
                crowds[users] = await replay_engine(url, world, ENGINE_RULES[LOOKING], course)
            _engine_rows(context, f"{LOOKING}, {users} junk users", size, None, crowds[users])
    alone = crowds[0].figures
    return [
        Bar(
            name=f"engine, {users} users with a thousand junk keys each: OK of the others / without",
            value=crowd.figures.ok / alone.ok,
            at_least=KEPT_WITH_JUNK,
            note=f"OK {crowd.figures.ok:.3f}, without {alone.ok:.3f}; {crowd.junk} requests for junk",
        )
        for users, crowd in crowds.items()
        if users
    ]


def _engine_rows(context: Context, name: str, size: Size, pure: Figures | None, engine: Replayed) -> None:
    about = {"hours": size.engine_hours, "keys": ENGINE_SCALE.keys, "seed": ENGINE_SEED}
    faults = {"killed": engine.killed, "rescued": engine.rescued, "throttled": engine.throttled, "junk": engine.junk}
    context.rows.append({"contender": f"engine: {name}", **about, **engine.figures.row(), **faults})
    if pure is not None:
        context.rows.append({"contender": f"pure, as the engine: {name}", **about, **pure.row()})
    beside = "" if pure is None else f" (pure {pure.ok:.3f}, W99 {pure.w99:g})"
    context.say(f"[dim]engine, {name}: OK {engine.figures.ok:.3f}, W99 {engine.figures.w99:g}{beside}[/]")


def _alike(name: str, pure: Figures, engine: Figures) -> list[Bar]:
    return [
        Bar(
            name=f"engine and pure policy, {name}: difference of OK",
            value=abs(engine.ok - pure.ok),
            at_most=TOLERANCE,
            note=f"engine {engine.ok:.3f}, pure {pure.ok:.3f}",
        ),
        Bar(
            name=f"engine and pure policy, {name}: difference of W99, as a share",
            value=abs(engine.w99 - pure.w99) / max(pure.w99, SHORT_WAIT),
            at_most=WAIT_TOLERANCE,
            note=f"engine {engine.w99:g}, pure {pure.w99:g} minutes",
        ),
    ]


def _engine_safe(whole: Mapping[str, Replayed], hurt: Replayed) -> list[Bar]:
    limit = Course().limit(ENGINE_SCALE.requests)
    return [
        Bar(
            name="engine: most requests in any minute / limit",
            value=max(run.most_requests for run in (*whole.values(), hurt)) / limit,
            at_most=1.0,
            note=f"limit {limit} a minute",
        ),
        Bar(
            name="engine, kills and 429 storms: OK given up",
            value=whole[LOOKING].figures.ok - hurt.figures.ok,
            at_most=0.05,
            note=f"{hurt.killed} jobs killed, {hurt.rescued} taken back, {hurt.throttled} throttled",
        ),
        Bar(
            name="engine, kills and 429 storms: dark hours and bytes over the quota",
            value=hurt.figures.dark_hours + hurt.figures.over_quota,
            at_most=0.0,
        ),
    ]
