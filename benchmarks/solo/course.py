"""All solo bars, in the order in which one prepares the ground for the next; one that fails stops only itself."""

from collections.abc import Awaitable

import asyncpg

from benchmarks.harness import Bar, Context, without_paths
from benchmarks.solo import claim_time, live_partition, rescue
from benchmarks.solo.queue import fresh_queue, template
from livewell.kernel import LivewellError

FAILURES = (asyncpg.PostgresError, asyncpg.InterfaceError, LivewellError, OSError, RuntimeError, TimeoutError)


async def bars(context: Context) -> list[Bar]:
    """The million jobs that went through the live partition are the finished jobs that claims are measured behind."""
    async with template(context):
        async with fresh_queue(context, "deep") as deep:
            found = await _found(context, "live partition", live_partition.bars(context, deep))
            found += await _found(context, "claim time", claim_time.bars(context, deep))
        return found + await _found(context, "rescue after kill -9", rescue.bars(context))


async def _found(context: Context, name: str, measured: Awaitable[list[Bar]]) -> list[Bar]:
    try:
        return await measured
    except FAILURES as failure:
        reason = without_paths(str(failure) or type(failure).__name__)
        context.say(f"[bold red]{name} failed:[/] {reason}")
        return [Bar(name=name, value=None, at_most=0.0, note=f"failed: {reason}")]
