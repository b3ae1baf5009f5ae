"""The path of a refresh beside what it cannot do without: the whole beside bare requests, storing beside an upsert."""

from benchmarks.harness import Context
from benchmarks.solo import refreshing, storing
from benchmarks.solo.queue import template


async def run(context: Context) -> None:
    context.versions["postgresql"] = await context.server.version()
    async with template(context):
        for name, measured in (("refreshing", refreshing.bars), ("storing", storing.bars)):
            if context.wants(name):
                context.bars += await measured(context)
