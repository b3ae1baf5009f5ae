"""Health over HTTP, runs over HTTP, and the watchdog that looks from outside."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import aiohttp
from aiohttp import web

from livewell.app import Livewell
from livewell.kernel import Database
from livewell.schedule import HealthServer, Watchdog, WatchdogOptions

LATE = "update livewell_private.task set watched_since = now() - interval '30 days', enabled = name = 'rescue'"
MAINTENANCE_LONG_AGO = "update livewell_private.setting set updated_at = now() - interval '30 days'"


@asynccontextmanager
async def served(app: Livewell, *, token: str | None = None, host: str = "127.0.0.1") -> AsyncIterator[str]:
    """The address of a health server of this application."""
    server = HealthServer(
        app.tasks.task_health, lambda name, force: app.run_task(name, force=force), host=host, port=0, token=token
    )
    stop = asyncio.Event()
    await server.open()
    running = asyncio.create_task(server.run(stop))
    try:
        yield server.address
    finally:
        stop.set()
        await running


async def _ask(method: str, url: str, **options: Any) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as session, session.request(method, url, **options) as answer:
        return answer.status, await answer.json()


async def test_healthz_names_the_late_tasks(database_url: str, owner: Database) -> None:
    """200 while all is in time, 503 with the names of those that are not, 503 when the database is gone."""
    await owner.execute("update livewell_private.task set watched_since = now()")
    async with Livewell(database_url) as app, served(app) as address:
        assert (await _ask("GET", f"{address}/healthz"))[0] == 200
        await owner.execute(LATE)
        await owner.execute(MAINTENANCE_LONG_AGO)
        status, health = await _ask("GET", f"{address}/healthz")
        assert (status, [task["task"] for task in health["late"]]) == (503, ["rescue"])
        await owner.execute("alter schema livewell rename to away")
        status, health = await _ask("GET", f"{address}/healthz")
        assert (status, health["ok"], bool(health["error"])) == (503, False, True)


async def test_a_run_over_http_is_the_same_document(database_url: str) -> None:
    """Ran and skipped are both 200 with the document SQL gives; an unknown task is 404 with its fact."""
    async with Livewell(database_url) as app, served(app) as address:
        status, answer = await _ask("POST", f"{address}/v1/tasks/settings_care/run")
        assert (status, answer) == (200, {"ok": True, "ran": True, "result": {"unfit": []}})
        status, answer = await _ask("POST", f"{address}/v1/tasks/settings_care/run")
        assert (status, answer) == (200, {"ok": True, "skipped": True, "reason": "not_due"})
        assert (await _ask("POST", f"{address}/v1/tasks/settings_care/run?force=1"))[1]["ran"]
        status, answer = await _ask("POST", f"{address}/v1/tasks/settings_car/run")
        assert (status, answer["code"], answer["fix"]) == (404, "schedule.unknown_task", "did you mean settings_care?")


async def test_a_run_over_http_is_guarded(database_url: str, owner: Database) -> None:
    """With a token it is required; without one, web pages and other machines are refused; health stays open."""
    await owner.execute("update livewell_private.task set watched_since = now()")
    async with Livewell(database_url) as app:
        run = "/v1/tasks/settings_care/run"
        async with served(app, token="secret") as address:
            assert (await _ask("POST", address + run))[0] == 401
            assert (await _ask("POST", address + run, headers={"Authorization": "Bearer secre"}))[0] == 401
            assert (await _ask("GET", f"{address}/healthz"))[0] == 200
            assert (await _ask("POST", address + run, headers={"Authorization": "Bearer secret"}))[0] == 200
        async with served(app) as address:
            assert (await _ask("POST", address + run, headers={"Origin": "https://elsewhere.example"}))[0] == 403
        async with served(app, host="0.0.0.0") as address:  # noqa: S104 - what is refused is the point
            assert (await _ask("POST", address.replace("0.0.0.0", "127.0.0.1") + run))[0] == 403  # noqa: S104


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
