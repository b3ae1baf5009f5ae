"""`livewell watchdog`: apart from everything, for a terminal, a service and an outside cron."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from aiohttp import web

from livewell.kernel import Database
from tests.acceptance.command import Cli
from tests.acceptance.test_health import JUST_NOW, LONG_AGO


class DeadMan:
    """A dead-man service of the test's own: what it was told."""

    def __init__(self) -> None:
        self.url = ""
        self.told: list[tuple[str, str]] = []

    async def hear(self, request: web.Request) -> web.Response:
        self.told.append((request.path, await request.text()))
        return web.Response()


@pytest_asyncio.fixture
async def dead_man() -> AsyncIterator[DeadMan]:
    service = DeadMan()
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", service.hear)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield service
    await runner.cleanup()


async def test_once_is_for_an_outside_cron(tmp_path: Path, dead_man: DeadMan) -> None:
    """One look: 0 and a ping when the address answers 200; 1, one line and /fail when nobody is there."""
    cli = Cli(tmp_path, None)
    ping = f"{dead_man.url}/ping/me"
    well = await cli("watchdog", "--once", "--url", f"{dead_man.url}/healthz", "--ping", ping)
    assert well.out == "all is well\n"
    assert [path for path, _ in dead_man.told] == ["/healthz", "/ping/me"]
    dead_man.told.clear()
    ill = await cli("watchdog", "--once", "--url", "http://127.0.0.1:1/healthz", "--ping", ping, code=1)
    assert ill.err.splitlines()[-1].endswith("[cli.tasks_late]")
    ((path, said),) = dead_man.told
    assert (path, "does not answer" in said) == ("/ping/me/fail", True)


async def test_the_database_is_asked_from_outside(cli: Cli, owner: Database, dead_man: DeadMan) -> None:
    """With --database late tasks alarm also where no address is served."""
    await owner.execute(JUST_NOW)
    assert (await cli("watchdog", "--once", "--database")).out == "all is well\n"
    await owner.execute(LONG_AGO)
    await cli("watchdog", "--once", "--database", "--ping", f"{dead_man.url}/ping", code=1)
    ((path, said),) = dead_man.told
    assert (path, "rescue" in said, "audit_seal" in said) == ("/ping/fail", True, True)


async def test_it_goes_on_until_it_is_told_to_stop(tmp_path: Path, dead_man: DeadMan) -> None:
    """Run by itself it looks again and again, and ends well when asked to."""
    cli = Cli(tmp_path, None)
    args = ("watchdog", "--every", "50ms", "--url", f"{dead_man.url}/healthz")
    async with cli.running(*args) as watching:
        for _ in range(3):
            await watching.event("watchdog_satisfied")
        watching.send(signal.SIGTERM)
        assert await watching.ended() == 0


async def test_nothing_to_watch_is_a_misuse(tmp_path: Path) -> None:
    """Without an address and without --database there is nothing to watch, and what is no address is refused."""
    refused = await Cli(tmp_path, None)("watchdog", "--once", code=2)
    assert refused.err.endswith("(give --url, or --database, or both) [cli.misused]\n")
    refused = await Cli(tmp_path, None)("watchdog", "--url", "notaurl", "--once", code=2)
    assert refused.err == "'notaurl' is no address (write http://… or https://…) [cli.misused]\n"
