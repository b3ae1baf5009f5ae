"""All solo bars, in the order in which one prepares the ground for the next."""

from benchmarks.harness import Bar, Context
from benchmarks.solo import claim_time, live_partition, rescue
from benchmarks.solo.queue import fresh_queue, template


async def bars(context: Context) -> list[Bar]:
    """The million jobs that went through the live partition are the finished jobs that claims are measured behind."""
    async with template(context):
        async with fresh_queue(context, "deep") as deep:
            found = await live_partition.bars(context, deep)
            found += await claim_time.bars(context, deep)
        return found + await rescue.bars(context)
