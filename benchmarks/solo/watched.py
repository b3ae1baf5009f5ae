"""Five hundred watched items in real time, with budget to spare: how old they get, and how long a change goes unseen.

`livewell up` runs as a user runs it, in a process of its own; here are the provider (the simulator) and who looks. Ages
are looked at four times a second. A change that comes to the source right after it was asked is the one that waits
longest: it is stored with the next refresh, so its wait is that from one answer to the end of the refresh after it.
"""

import asyncio
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from benchmarks.harness import Bar, ContenderFailed, Context
from benchmarks.solo.queue import TEMPLATE
from benchmarks.stage.cache import ROOT
from livewell import Livewell
from livewell.simulator import Simulator, SimulatorOptions, symbol_names

ITEMS = 500
TTL = 5.0
ALLOWED = 2.0
PAUSE = 0.25
RENEWED_EVERY = 20.0
FILE = f"""
[provider.sim]
base_url      = "URL/api/v3"
allow_private = true

[provider.sim.endpoint.quote]
requests   = {{ per_minute = 100000 }}
concurrent = 100

[type.quote]
endpoint = "sim/quote"
ttl      = "{TTL:g} seconds"
extra    = "ignore"
fetch    = {{ path = "/quote/{{keys}}", keys_per_request = 20, items = "$[*]", key = "symbol" }}
fields.symbol = {{ type = "string" }}
fields.price  = {{ type = "number", above = 0 }}
fields.at     = {{ type = "epoch", from = "timestamp", source_time = true, rule = "not_older" }}
"""
AGES = "select extract(epoch from clock_timestamp() - fetched_at)::float from livewell_private.item where watched"
MISSING = "select count(*) from livewell_private.item where watched and fetched_at is null"
ENDED = """
select payload ->> 'key' as key, extract(epoch from finished_at)::float as at
from livewell.jobs where kind = 'refresh.quote' and state = 'completed'
order by finished_at
"""


async def bars(context: Context) -> list[Bar]:
    seconds = {"full": 60.0, "quick": 8.0, "smoke": 7.0}[context.size]
    ages: list[float] = []
    options = SimulatorOptions(symbols=ITEMS)
    async with (
        Simulator(options) as simulator,
        context.server.database("solo_watched", template=TEMPLATE) as url,
        _up(url, simulator.url),
        Livewell(url) as app,
    ):
        watcher = await asyncpg.connect(url)
        session = await app.presence.open("anna")
        await app.presence.subscribe(session, [("quote", key) for key in symbol_names(ITEMS)])
        await _until_all_are_there(watcher)
        offset, began = time.time() - time.monotonic(), time.monotonic()
        renewed = began
        while time.monotonic() < began + seconds:
            ages += [row[0] for row in await watcher.fetch(AGES)]
            if time.monotonic() > renewed + RENEWED_EVERY:
                await app.presence.renew(session)
                renewed = time.monotonic()
            await asyncio.sleep(PAUSE)
        ended = await watcher.fetch(ENDED)
        await watcher.close()
        calls = [(call.ended + offset, call.keys) for call in simulator.calls if call.status in {200, 304}]
        fetch_times = [call.ended - call.arrived for call in simulator.calls]
        over = simulator.over_limit
    fetch = statistics.quantiles(fetch_times, n=100)[98]
    waits = _waits(calls, [(row["at"], row["key"]) for row in ended])
    return _bars(context, ages, waits, fetch=fetch, over=over, seconds=seconds)


async def _until_all_are_there(watcher: "asyncpg.Connection[asyncpg.Record]") -> None:
    for _ in range(int(60 / PAUSE)):
        if not await watcher.fetchval(MISSING):
            return
        await asyncio.sleep(PAUSE)
    raise ContenderFailed("not all items were fetched within a minute")


def _waits(answers: list[tuple[float, tuple[str, ...]]], ended: list[tuple[float, str]]) -> list[float]:
    """For each answer the time until the refresh after it has ended, as far as there was one."""
    answered: dict[str, list[float]] = {}
    for at, keys in answers:
        for key in keys:
            answered.setdefault(key, []).append(at)
    stored: dict[str, list[float]] = {}
    for at, key in ended:
        stored.setdefault(key, []).append(at)
    waits = []
    for key, moments in answered.items():
        pairs = zip(sorted(moments), stored.get(key, [])[1:], strict=False)
        waits += [after - at for at, after in pairs]
    return waits


def _bars(
    context: Context, ages: list[float], waits: list[float], *, fetch: float, over: int, seconds: float
) -> list[Bar]:
    age, wait = (statistics.quantiles(values, n=100)[98] for values in (ages, waits))
    context.rows += [
        {
            "contender": "livewell",
            "measure": name,
            "median": round(value, 3),
            "unit": "s",
            "sizes": {"items": ITEMS, "ttl_seconds": TTL, "seconds": seconds},
        }
        for name, value in (("age, p99", age), ("age, worst", max(ages)), ("wait of a change, p99", wait))
    ]
    return [
        Bar(
            name=f"{ITEMS} watched: age, p99 / (TTL + {ALLOWED:g} s + fetch)",
            value=age / (TTL + ALLOWED + fetch),
            at_most=1.0,
            note=f"{age:.2f} s, worst {max(ages):.2f} s; TTL {TTL:g} s",
        ),
        Bar(
            name=f"{ITEMS} watched: wait of a change, p99 / (TTL + {ALLOWED:g} s)",
            value=wait / (TTL + ALLOWED),
            at_most=1.0,
            note=f"{wait:.2f} s over {len(waits):,} refreshes, worst {max(waits):.2f} s",
        ),
        Bar(name=f"{ITEMS} watched: calls over the provider's limit", value=float(over), at_most=0.0),
    ]


@asynccontextmanager
async def _up(url: str, provider: str) -> AsyncIterator[None]:
    """`livewell up` on a file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "livewell.toml").write_text(FILE.replace("URL", provider), encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            *(str(Path(sys.executable).with_name("livewell")), "up"),
            cwd=folder,
            env={**os.environ, "DATABASE_URL": url, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None  # noqa: S101 - asked for above
        while b"worker_started" not in (line := await process.stderr.readline()):
            if not line:
                raise ContenderFailed("livewell up ended before its worker started")
        rest = asyncio.create_task(process.stderr.read())
        try:
            yield
        finally:
            rest.cancel()
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.wait()
