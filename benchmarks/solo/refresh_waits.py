"""From due to stored on an idle system, beside what cannot be left out: the provider's 20 ms, a claim and a finish."""

import statistics

from benchmarks.harness import Bar, Context
from benchmarks.stage.provider import answering, child, declared

DELAY = 0.020


async def bars(context: Context) -> list[Bar]:
    samples = 20 if context.quick else 200
    found: dict[str, list[float]] = {}
    async with answering(delay=DELAY) as url:
        for _ in range(context.rounds):
            async with declared(context, url, items=2 * (samples + 1)) as database:
                for name, value in (await child(context, "refresh_waits", database, {"samples": samples})).items():
                    found.setdefault(name, []).append(value)
    times = {name: statistics.median(values) for name, values in found.items()}
    least = DELAY + times["claim"] + times["finish"]
    context.rows += [
        {
            "contender": "livewell",
            "measure": f"due to stored, {name}",
            "median": round(value * 1000, 2),
            "unit": "ms",
            "samples": [round(seconds * 1000, 2) for seconds in found[name]],
            "sizes": {"samples": samples},
        }
        for name, value in times.items()
    ]
    note = f"{{:.1f}} ms; 20 ms, a claim and a finish are {least * 1000:.1f} ms"
    return [
        Bar(
            name="due to stored, p50 / what cannot be left out",
            value=times["p50"] / least,
            at_most=2.0,
            note=note.format(times["p50"] * 1000),
        ),
        Bar(
            name="due to stored, p99 / what cannot be left out",
            value=times["p99"] / least,
            at_most=5.0,
            note=note.format(times["p99"] * 1000),
        ),
    ]
