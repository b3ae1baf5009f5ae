"""The checker beside a walk key by key, and the cost of knowing who looks at what: bars of freshness and presence."""

from benchmarks.harness import Context
from benchmarks.solo import presence, ticks
from benchmarks.solo.queue import template


async def run(context: Context) -> None:
    context.versions["postgresql"] = await context.server.version()
    async with template(context):
        for measured in (ticks.bars, presence.bars):
            context.bars += await measured(context)
