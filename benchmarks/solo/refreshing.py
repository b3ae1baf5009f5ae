"""The whole path of a refresh beside the raw loop: the same server, as many requests at once, in turn.

Asking for twenty keys at a time is measured beside asking for one. A worker's memory is looked at before and after
many fetches, and while 200 large answers are under way.
"""

import statistics
from typing import Any

from benchmarks.harness import Bar, Context, Size
from benchmarks.stage.provider import answering, child, declared

CONCURRENCY = 100
KEYS_AT_ONCE = 20
# Items, turns over them, and turns of the run whose memory is watched.
SIZES: dict[Size, tuple[int, int, int]] = {"full": (20_000, 2, 10), "quick": (2_000, 1, 2), "smoke": (200, 1, 2)}


async def bars(context: Context) -> list[Bar]:
    items, turns, many_turns = SIZES[context.size]
    found: dict[str, list[float]] = {"raw": [], "one": [], "many": []}
    async with answering() as url:
        for _ in range(context.rounds):
            raw = {"url": url, "requests": items, "concurrency": CONCURRENCY}
            found["raw"].append((await child(context, "raw_requests", "", raw))["requests"])
            for name, keys in (("one", 1), ("many", KEYS_AT_ONCE)):
                figures = await _refreshes(context, url, items=items, turns=turns, keys=keys)
                found[name].append(figures["items"])
        memory = await _refreshes(context, url, items=items, turns=many_turns)
        large = await _refreshes(
            context, url, items=200, turns=turns, at_once=200, prefix="LARGE", expected_bytes=500_000
        )
    raw_rate, one, many = (statistics.median(found[name]) for name in ("raw", "one", "many"))
    _add_rows(context, found, items)
    return [
        Bar(name="whole path / raw aiohttp, requests", value=one / raw_rate, at_least=0.35, note="answers of 1 KB"),
        Bar(
            name=f"{KEYS_AT_ONCE} keys a request / one, items",
            value=many / one,
            at_least=4.0,
            note=f"{many:,.0f} and {one:,.0f} items/s",
        ),
        Bar(
            name="memory after many fetches / before",
            value=memory["resident_last"] / memory["resident_first"],
            at_most=1.15,
            note=f"{items * many_turns:,} fetches, {memory['resident_last']:.0f} MB",
        ),
        Bar(name="memory at 200 answers of 500 KB at once, MB", value=large["peak"], at_most=150.0),
    ]


async def _refreshes(
    context: Context, url: str, *, items: int, turns: int, at_once: int = CONCURRENCY, keys: int = 1, **stage: Any
) -> dict[str, float]:
    """One worker on a database of its own."""
    async with declared(context, url, items=items, keys_per_request=keys, **stage) as database:
        plan = {
            "items": items,
            "warm_up": min(items, 2_000),
            "turns": turns,
            "concurrency": at_once * keys,
            "claim_batch": 500,
        }
        return await child(context, "refreshes", database, plan)


def _add_rows(context: Context, found: dict[str, list[float]], items: int) -> None:
    names = {
        "raw": ("raw aiohttp", "requests"),
        "one": ("livewell", "whole path, one key a request"),
        "many": ("livewell", f"whole path, {KEYS_AT_ONCE} keys a request"),
    }
    context.rows += [
        {
            "contender": names[name][0],
            "measure": names[name][1],
            "median": round(statistics.median(values)),
            "unit": "1/s",
            "samples": [round(value) for value in values],
            "sizes": {"items": items, "concurrency": CONCURRENCY},
        }
        for name, values in found.items()
    ]
