"""`livewell up` with its API: viewers come, and it ends when it is told to."""

import asyncio
import signal

from livewell.kernel import Database
from livewell.testing import make_type, put
from tests.acceptance.command import Cli
from tests.security.test_hostile_clients import raw


async def test_a_stuck_client_does_not_hold_up_the_end(cli: Cli, owner: Database) -> None:
    """SIGTERM ends a server in time although a client never reads."""
    await make_type(owner, "quote", read_rule="public")
    async with cli.running("up", "--no-apply", "--only", "api") as process:
        address = (await process.event("api_served"))["address"]
        await process.event("live_started")
        async with raw(address, receives=4096) as stuck:
            stuck.say('[{"frame":"hello","items":[{"type":"quote","key":"A"}]}]')
            stuck.read_nothing()
            for number in range(40):
                await put(owner, "A", {"price": number, "words": "x" * 50_000})
            process.send(signal.SIGTERM)
            async with asyncio.timeout(25):
                assert await process.ended() == 0
