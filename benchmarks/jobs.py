"""The queue beside its peers, and beside itself in hard places: every bar of the job queue."""

from collections.abc import Sequence

from benchmarks.field import LIVEWELL, OURS, OURS_SERIAL, PEER_FIELD, RAW, RAW_LOOP, SERIAL
from benchmarks.harness import Bar, Context, Figures, race
from benchmarks.solo import course
from benchmarks.stage.report import print_figures

# A full drain lasts seconds, so that starting a worker is not what is measured.
FULL = {"single": 2_000, "bulk": 20_000, "batch": 1_000, "drain": 100_000, "samples": 200, "gap": 0.01}
QUICK = {"single": 400, "bulk": 10_000, "batch": 1_000, "drain": 20_000, "samples": 80, "gap": 0.01}
MEASURES = (
    "enqueue_single",
    "enqueue_bulk",
    "drain",
    "latency_idle_p50",
    "latency_idle_p99",
    "latency_after_burst_p50",
    "latency_after_burst_p99",
)


async def run(context: Context) -> None:
    plan = QUICK if context.quick else FULL
    context.versions["postgresql"] = await context.server.version()
    figures = await race(context, [RAW_LOOP, OURS, OURS_SERIAL, *PEER_FIELD], plan)
    if figures.samples:
        print_figures(context, figures, against=RAW, measures=MEASURES)
    if context.only is None:
        context.bars += peer_bars(figures) + latency_bars(figures) + [serial_bar(figures)]
    if context.wants("solo"):
        context.bars += await course.bars(context)


def peer_bars(figures: Figures) -> list[Bar]:
    peers = [peer.name for peer in PEER_FIELD]
    return [
        _against_fastest(figures, peers, "drain", "drain / fastest peer", 1.0),
        Bar(name="drain / raw loop", value=figures.ratio(LIVEWELL, "drain", RAW), at_least=0.7),
        _against_fastest(figures, peers, "enqueue_bulk", "bulk enqueue with dedupe / fastest peer", 1.1),
        _against_fastest(figures, peers, "enqueue_single", "single enqueue / fastest peer", 1.1),
    ]


def _against_fastest(figures: Figures, peers: Sequence[str], measure: str, name: str, at_least: float) -> Bar:
    fastest = figures.best(peers, measure)
    value = None if fastest is None else figures.ratio(LIVEWELL, measure, fastest[0])
    note = "" if fastest is None else f"fastest: {fastest[0]}, {fastest[1]:,.0f} jobs/s"
    return Bar(name=name, value=value, at_least=at_least, note=note)


def latency_bars(figures: Figures) -> list[Bar]:
    """Idle against idle; after a burst against the raw loop at its better of the two, for a burst slows it down."""
    bars = []
    for percent in ("p50", "p99"):
        idle, burst = f"latency_idle_{percent}", f"latency_after_burst_{percent}"
        bars.append(
            Bar(name=f"idle latency {percent} / raw loop", value=figures.ratio(LIVEWELL, idle, RAW), at_most=1.5)
        )
        raw = [value for measure in (idle, burst) if (value := figures.median(RAW, measure)) is not None]
        mine = figures.median(LIVEWELL, burst)
        bars.append(
            Bar(
                name=f"latency {percent} right after a burst / raw loop",
                value=mine / min(raw) if mine is not None and raw else None,
                at_most=1.5,
            )
        )
    return bars


def serial_bar(figures: Figures) -> Bar:
    return Bar(
        name="drain with serial keys / without",
        value=figures.ratio(SERIAL, "drain", LIVEWELL),
        at_least=0.65,
        note="2,000 serial keys, ten jobs each",
    )
