"""The watchdog that looks from outside."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from aiohttp import web

from livewell.schedule import Watchdog, WatchdogOptions


@asynccontextmanager
async def listening(health: int, ping: int = 200) -> AsyncIterator[tuple[str, list[tuple[str, str]]]]:
    """A system to be watched and a dead-man service in one; what the latter was told."""
    told: list[tuple[str, str]] = []

    async def on_health(_: web.Request) -> web.Response:
        return web.json_response({"ok": health == 200, "late": [{"task": "rescue"}]}, status=health)

    async def on_ping(request: web.Request) -> web.Response:
        told.append((request.path, await request.text()))
        return web.Response(status=ping)

    app = web.Application()
    app.router.add_get("/healthz", on_health)
    app.router.add_post("/ping{rest:.*}", on_ping)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", told
    finally:
        await runner.cleanup()


async def _looked(address: str, **options: Any) -> list[str]:
    return await Watchdog(WatchdogOptions(url=f"{address}/healthz", ping=f"{address}/ping", **options)).run_once()


async def test_the_watchdog_pings_on_success_and_fails_on_failure() -> None:
    """A dead-man service hears the plain ping when all is well, and /fail with the names when it is not."""
    async with listening(200) as (address, told):
        assert await _looked(address) == []
        assert told == [("/ping", "")]
    async with listening(503) as (address, told):
        problems = await _looked(address)
        assert problems == [f"{address}/healthz answers 503 (late: rescue)"]
        assert told == [("/ping/fail", problems[0])]


async def test_a_silent_system_is_noticed_and_a_failed_ping_ends_nothing() -> None:
    """Nobody there is a failure in bounded time, and so is a server that accepts and says nothing."""
    async with listening(200, ping=500) as (address, told):
        assert await _looked(address) == []
        assert len(told) == 1
    (problem,) = await _looked("http://127.0.0.1:1")
    assert "does not answer" in problem

    async def say_nothing(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        writer.close()

    held = asyncio.Event()
    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    (problem,) = await _looked(f"http://127.0.0.1:{port}", timeout=timedelta(milliseconds=300))
    assert "does not answer" in problem
    held.set()
    server.close()
