"""The walk of somebody new: an API of their own, two types, what they read back, and what they see in trouble."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler

from livewell import Livewell
from livewell.cli import main
from livewell.kernel import silence_logs
from livewell.testing import OwnServer, until
from tests.acceptance.command import Cli, Running

KEY = "s3cret"
TABLE = """
create table public.games (
    team text not null, id integer not null, home text not null, away text not null, goals integer not null,
    kickoff timestamptz not null, fetched_at timestamptz, primary key (team, id)
);
grant select on public.games to livewell_reader;
grant insert, update on public.games to livewell_writer;
"""
DECLARED = """
[provider.sport]
base_url      = "BASE_URL"
allow_private = true
key_env       = "SPORT_KEY"
key_in        = "header:X-Key"

[provider.sport.endpoint.games]
requests = { per_minute = 600 }

[provider.sport.endpoint.teams]
requests = { per_minute = 600 }

[type.games]
endpoint    = "sport/games"
ttl         = "1 minute"
table       = "public.games"
key_column  = "team"
time_column = "fetched_at"
extra       = "ignore"
fetch.path  = "/games/{key}"
fetch.items = "data.games[*]"
fetch.key   = "team"
fetch.rows  = "many"
fetch.page  = { parameter = "page", first = 1, most = 5, next = "$.next" }
fields.team    = { type = "string" }
fields.id      = { type = "integer" }
fields.home    = { type = "string", from = "teams.home" }
fields.away    = { type = "string", from = "$.teams.away" }
fields.goals   = { type = "integer", from = "score[0]" }
fields.kickoff = { type = "datetime", zone = "Europe/London" }

[type.team]
endpoint = "sport/teams"
ttl      = "1 second"
extra    = "ignore"
fetch    = { path = "/teams/{key}", items = "$" }
fields.name    = { type = "string", from = "team.name" }
fields.city    = { type = "string", from = "team.ground.city" }
fields.updated = { type = "datetime", zone = "Europe/London", source_time = true, rule = "not_older" }
"""


class Api:
    """A provider nobody here wrote for us: it wants its key, pages, limits once, knows ETags, and can be in trouble."""

    def __init__(self) -> None:
        self.key = KEY
        self.in_html = False
        self.statuses: list[int] = []
        self._runner: web.AppRunner | None = None
        self._port = 0

    async def start(self) -> str:
        app = web.Application(middlewares=[self._door])
        app.add_routes([web.get("/games/{team}", self._games), web.get("/teams/{team}", self._team)])
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        _, self._port = self._runner.addresses[0][:2]
        return f"http://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @web.middleware
    async def _door(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        answer: web.StreamResponse
        if request.headers.get("X-Key") != self.key:
            answer = web.json_response({"error": "no such key"}, status=HTTPStatus.UNAUTHORIZED)
        elif HTTPStatus.TOO_MANY_REQUESTS not in self.statuses:
            answer = web.Response(status=HTTPStatus.TOO_MANY_REQUESTS, headers={"Retry-After": "1"})
        elif self.in_html:
            answer = web.Response(text="<html>Back soon</html>", content_type="text/html")
        else:
            answer = await handler(request)
        self.statuses.append(answer.status)
        return answer

    async def _games(self, request: web.Request) -> web.Response:
        page, team = int(request.query.get("page", 1)), request.match_info["team"]
        games = [
            {
                "team": team,
                "id": 2 * page + number,
                "teams": {"home": team, "away": "EVE"},
                "score": [page, number],
                "kickoff": "2026-07-01 15:00:00",
            }
            for number in range(2)
        ]
        return web.json_response({"data": {"games": games}, "next": page + 1 if page < 3 else None})

    async def _team(self, request: web.Request) -> web.Response:
        team = request.match_info["team"]
        if request.headers.get("If-None-Match") == f'"{team}"':
            return web.Response(status=HTTPStatus.NOT_MODIFIED)
        found = {"team": {"name": team, "ground": {"city": "Liverpool"}}, "updated": "2026-01-01T12:00:00"}
        return web.json_response(found, headers={"ETag": f'"{team}"'})


@asynccontextmanager
async def _api() -> AsyncIterator[tuple[Api, str]]:
    api = Api()
    try:
        yield api, await api.start()
    finally:
        await api.stop()


class Screen:
    """What a person sees: the lines of `up --watch`, and what other commands print."""

    def __init__(self, up: Running, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._up = up
        self._url = url
        self._capsys = capsys

    async def shows(self, text: str) -> str:
        """The next line of `up --watch` with that text in it."""
        assert self._up.inner.stdout is not None
        line, said = "", []
        async with asyncio.timeout(30):
            while text not in line:
                said.append(line := (await self._up.inner.stdout.readline()).decode())
                assert line, f"it ended without {text!r}: {said}"
        return line

    async def of(self, *command: str, code: int = 0) -> str:
        """What another command says, in this process: a walk of many commands is no test of starting them."""
        self._capsys.readouterr()
        ended = await asyncio.to_thread(_exit_code, ["--database-url", self._url, *command])
        out, err = self._capsys.readouterr()
        silence_logs()
        assert ended == code, out + err
        return out + err


def _exit_code(line: list[str]) -> object:
    with pytest.raises(SystemExit) as end:
        main(line)
    return end.value.code


async def test_the_walk_of_somebody_new(
    tmp_path: Path, own_server: OwnServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From an API of one's own to fresh values by SQL, Python and `tail`; each trouble has its reason on the screen."""
    monkeypatch.delenv("COLUMNS", raising=False)  # what goes to a pipe is not folded
    async with _api() as (api, address), Livewell(own_server.owner_url) as app:
        await app.database.execute(TABLE)
        (tmp_path / "livewell.toml").write_text(DECLARED.replace("BASE_URL", address))
        cli = Cli(tmp_path, own_server.owner_url, SPORT_KEY=KEY)
        async with cli.running("up", "--watch") as up:
            screen = Screen(up, own_server.owner_url, capsys)
            await screen.shows("0 items watched")
            await _read_back(app, cli, api)
            await _troubles(app, screen, api)
            await _restart(app, screen, own_server)
            up.send(signal.SIGTERM)
            assert await up.ended() == 0


async def _read_back(app: Livewell, cli: Cli, api: Api) -> None:
    """The same by Python, by SQL, from the own table and on a terminal, though the first call was one too many."""
    games, team = await asyncio.gather(_fresh(app, "games", "LIV"), _fresh(app, "team", "LIV"))
    assert HTTPStatus.TOO_MANY_REQUESTS in api.statuses
    assert sorted(game["id"] for game in games) == [2, 3, 4, 5, 6, 7]
    assert team == {"name": "LIV", "city": "Liverpool", "updated": "2026-01-01T12:00:00Z"}
    kickoffs = await app.database.fetch("select distinct kickoff from public.games where team = 'LIV' and home = 'LIV'")
    assert [row["kickoff"] for row in kickoffs] == [datetime(2026, 7, 1, 14, tzinfo=UTC)]
    read = "select value ->> 'city' from livewell.read_items(p_type => 'team', p_keys => array['LIV'])"
    assert await app.database.fetchval(read) == "Liverpool"
    assert "EVE" in (await cli("tail", "games", "LIV", "--count", "1", "--fields", "away,goals")).out
    async with _looking(app, "team", "LIV"):
        await until(lambda: _is_in(HTTPStatus.NOT_MODIFIED, api), "it is asked for what is newer only")


async def _troubles(app: Livewell, screen: Screen, api: Api) -> None:
    """A wrong key, a page in HTML and a provider that is down: the reason in `up --watch`, `explain` and `warnings`."""
    api.key = "another"
    await _told(app, screen, "ARS", "401")
    api.key, api.in_html = KEY, True
    await _told(app, screen, "CHE", "text/html")
    api.in_html = False
    await api.stop()
    await _told(app, screen, "TOT", "no connection")
    await api.start()


async def _told(app: Livewell, screen: Screen, key: str, reason: str) -> None:
    async with _looking(app, "team", key):
        shown = await screen.shows(f"team: {key}: ")
        explained = await screen.of("explain", "team", key)
        warned = await screen.of("warnings")
    assert reason in shown
    assert reason in explained, explained
    assert any(key in line and reason in line for line in warned.splitlines()), warned


async def _restart(app: Livewell, screen: Screen, server: OwnServer) -> None:
    """While PostgreSQL is away it is said by who watches and who asks; afterwards everything goes on by itself."""
    await server.stop_at_once()
    await screen.shows("no figures for ")
    assert "[kernel.database_unavailable]" in await screen.of("explain", "team", "LIV", code=1)
    await server.start()
    await screen.shows("figures again, after ")
    assert (await _fresh(app, "team", "WHU"))["name"] == "WHU"


async def _fresh(app: Livewell, data_type: str, key: str) -> Any:
    """The first fresh value that somebody sees who looks."""
    async with asyncio.timeout(30):
        async for item in app.items.watch(data_type, [key]):
            if not item.is_stale:
                return item.value
    raise AssertionError(f"{data_type} {key} came to its end")


@asynccontextmanager
async def _looking(app: Livewell, data_type: str, key: str) -> AsyncIterator[None]:
    session = await app.presence.open("anna")
    await app.presence.subscribe(session, [(data_type, key)])
    yield
    await app.presence.close(session)


async def _is_in(status: HTTPStatus, api: Api) -> bool:
    return status in api.statuses
