"""The path of a refresh beside what it cannot do without: the whole beside bare requests, storing beside an upsert."""

from benchmarks.harness import Context
from benchmarks.solo import leavings, refresh_waits, refreshing, storing, watched
from benchmarks.solo.queue import template

BARS = (
    ("refreshing", refreshing.bars),
    ("waits", refresh_waits.bars),
    ("watched", watched.bars),
    ("storing", storing.bars),
    ("leavings", leavings.bars),
)


async def run(context: Context) -> None:
    context.versions["postgresql"] = await context.server.version()
    async with template(context):
        for name, measured in BARS:
            if context.wants(name):
                context.bars += await measured(context)
