"""The path of a refresh beside what it cannot do without: storing beside a bare upsert."""

from benchmarks.harness import Context
from benchmarks.solo import storing
from benchmarks.solo.queue import template


async def run(context: Context) -> None:
    context.versions["postgresql"] = await context.server.version()
    async with template(context):
        for measured in (storing.bars,):
            context.bars += await measured(context)
