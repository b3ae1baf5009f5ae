"""`livewell up` as somebody runs it who has a `livewell.toml` and a provider, and nothing else."""

import asyncio
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import from_json

from livewell.kernel import Database
from livewell.presence import Presence
from livewell.simulator import Simulator, SimulatorOptions
from livewell.testing import OwnServer, until
from tests.acceptance.command import Cli, Running

DECLARED = """
[provider.sim]
base_url      = "BASE_URL"
allow_private = true

[provider.sim.endpoint.quote]
requests   = { per_minute = 600 }
concurrent = 10

[type.quote]
endpoint = "sim/quote"
ttl      = "1 second"
extra    = "ignore"
fetch    = { path = "/quote/{keys}", keys_per_request = 5, items = "$[*]", key = "symbol" }
fields.symbol = { type = "string" }
fields.price  = { type = "number", above = 0 }
"""
QUICK = SimulatorOptions(symbols=10, rhythm={"quote": timedelta(milliseconds=300)})


def _declared(simulator: Simulator) -> str:
    return DECLARED.replace("BASE_URL", f"{simulator.url}/api/v3")


def declare(cli: Cli, simulator: Simulator) -> None:
    (cli.folder / "livewell.toml").write_text(_declared(simulator))


async def _value(owner: Database, key: str) -> Any:
    text = await owner.fetchval(
        "select value::text from livewell_private.record where data_type = 'quote' and key = $1", key
    )
    return text and from_json(text)


async def test_what_is_watched_is_fetched_and_kept_fresh(owner_cli: Cli, owner: Database) -> None:
    """From a file and a viewer to data that follows its source, with no code; SIGTERM ends it with 0."""
    async with Simulator(QUICK) as simulator:
        declare(owner_cli, simulator)
        async with owner_cli.running("up") as up:
            await up.event("worker_started")
            presence = Presence(owner)
            session = await presence.open("anna")
            await presence.subscribe(session, [("quote", "AAPL"), ("quote", "MSFT")])
            await until(lambda: _value(owner, "AAPL"), "AAPL is fetched")
            first = await _value(owner, "AAPL")
            assert first["symbol"] == "AAPL"

            async def has_moved() -> bool:
                return bool((await _value(owner, "AAPL"))["price"] != first["price"])

            await until(has_moved, "the price followed its source")
            up.send(signal.SIGTERM)
            assert await up.ended() == 0
        assert simulator.over_limit == 0
    assert {call.status for call in simulator.calls} <= {200, 304}
    job = await owner.fetchrow(
        "select state, endpoint from livewell.jobs where kind = 'refresh.quote' order by id limit 1"
    )
    assert job is not None
    assert tuple(job) == ("completed", "sim/quote")


async def test_how_things_stand_can_be_watched(owner_cli: Cli, owner: Database) -> None:
    """`--watch` shows what is watched, what changed last and what it costs; a line a second without a terminal."""
    async with Simulator(QUICK) as simulator:
        declare(owner_cli, simulator)
        async with owner_cli.running("up", "--watch") as up:
            assert up.inner.stdout is not None
            presence, session = Presence(owner), None
            said: list[str] = []
            async with asyncio.timeout(60):
                while not any("1 item watched" in line and "changed" in line for line in said):
                    said.append((await up.inner.stdout.readline()).decode())
                    if session is None and " watched" in said[-1]:
                        session = await presence.open("anna")
                        await presence.subscribe(session, [("quote", "AAPL")])
            assert any("quote AAPL" in line for line in said)
            up.send(signal.SIGTERM)
            assert await up.ended() == 0


async def test_an_outage_is_said_and_fills_no_log(tmp_path: Path, own_server: OwnServer) -> None:
    """While PostgreSQL is away the watched say since when and why; the log has no traceback and a line or two.

    A missing API key is said once, at the start; that nobody reads what is shown any more stops no work.
    """
    cli = Cli(tmp_path, own_server.owner_url, LIVEWELL_LOG_LEVEL="warning")
    (tmp_path / "livewell.toml").write_text(
        DECLARED.replace("BASE_URL", "http://127.0.0.1:1") + '[provider.sim.key.main]\nenv = "SIM_KEY"\n'
    )
    async with cli.running("up", "--watch") as up:
        assert up.inner.stdout is not None
        assert up.inner.stderr is not None
        await _line(up, " 0 items watched")
        await own_server.kill()
        await _line(up, "no figures for ")
        await own_server.start()
        await _line(up, "figures again, after ")
        up.inner.stdout._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - a reader that goes away
        said = await _until_said(up.inner.stderr, "nothing is shown any more, but work goes on")
        up.send(signal.SIGTERM)
        assert await up.ended() == 0
    assert "MISSING: API key main of provider sim: no key at env:SIM_KEY: the variable is not set" in said[0]
    assert "Traceback" not in "".join(said)
    assert len(said) < 10


async def _line(up: Running, text: str) -> None:
    assert up.inner.stdout is not None
    await _until_said(up.inner.stdout, text)


async def _until_said(stream: asyncio.StreamReader, text: str) -> list[str]:
    """The lines up to one that has the text in it."""
    said: list[str] = []
    async with asyncio.timeout(60):
        while not said or text not in said[-1]:
            said.append((await stream.readline()).decode())
            assert said[-1], f"it ended without {text!r}: {said}"
    return said


async def test_roles_can_be_chosen(owner_cli: Cli, owner: Database) -> None:
    """A machine that only checks queues refreshes and runs none."""
    async with Simulator(QUICK) as simulator:
        declare(owner_cli, simulator)
        async with owner_cli.running("up", "--only", "checker") as up:
            await up.event("scheduler_started")
            presence = Presence(owner)
            await presence.subscribe(await presence.open("anna"), [("quote", "AAPL")])

            async def has_ticked() -> bool:
                asked = "select count(*) from livewell.task_runs where task = 'check'"
                return bool(await owner.fetchval(asked))

            await until(has_ticked, "the checker has run")
            up.send(signal.SIGTERM)
            assert await up.ended() == 0
        assert simulator.calls == ()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ("--only", "wroker"),
            2,
            "unknown role 'wroker' (did you mean worker? one of worker, checker, api) [cli.misused]",
        ),
        ((), 1, "there is no livewell.toml here (livewell init writes one to begin with, --file names another)"),
        (("nowhere:app",), 1, "[cli.no_application]"),
    ],
)
async def test_what_cannot_be_is_refused(owner_cli: Cli, arguments: tuple[str, ...], code: int, said: str) -> None:
    """A role, a file or an application that is not there is one line, before anything runs."""
    answer = await owner_cli("up", *arguments, code=code)
    assert said in answer.err
    assert answer.err.count("\n") == 1


async def test_a_service_runs_with_what_the_owner_applied(cli: Cli, owner_cli: Cli, owner: Database) -> None:
    """A file that says what is the owner's is not applied by a service login, which is said; work goes on as it was."""
    key = '[provider.sim.key.main]\nenv = "SIM_KEY"\n'
    async with Simulator(QUICK) as simulator:
        declare(owner_cli, simulator)
        await owner_cli("apply", "--yes")
        for changed in (DECLARED.replace("BASE_URL", "http://127.0.0.1:1"), _declared(simulator) + key):
            (cli.folder / "livewell.toml").write_text(changed)
            refused = await cli("apply", "--yes", code=1)
            assert refused.err.count("\n") == 1
            assert refused.err.endswith("[budgets.owners_choice]\n")
        async with cli.running("up") as up:
            assert up.inner.stderr is not None
            told = await _until_said(up.inner.stderr, "worker_started")
            up.send(signal.SIGTERM)
            assert await up.ended() == 0
        assert "livewell.toml is not applied: key sim@main: source is for the owner of the schema to change" in told[0]
    assert await owner.fetchval("select count(*) from livewell_private.api_key") == 0


async def test_which_keys_are_read_is_said_where_it_runs(owner_cli: Cli) -> None:
    """The keys of its own file are read; another's only where an option or the environment says so."""
    async with Simulator(QUICK) as simulator:
        declare(owner_cli, simulator)
        key = '[provider.sim.key.main]\nenv = "SIM_KEY"\n'
        (owner_cli.folder / "keys.toml").write_text(key)
        await owner_cli("apply", "--yes")
        await owner_cli("apply", "--yes", "--file", "keys.toml")
        owner_cli.environment["SIM_KEY"] = "s3cret"
        for arguments, told in (((), True), (("--key-variables", "SIM_*"), False), (("--no-apply",), True)):
            async with owner_cli.running("up", *arguments) as up:
                assert up.inner.stderr is not None
                said = "".join(await _until_said(up.inner.stderr, "worker_started"))
                up.send(signal.SIGTERM)
                assert await up.ended() == 0
            assert ("MISSING: API key main of provider sim: no key at env:SIM_KEY: it is not among" in said) == told
            assert "s3cret" not in said
        assert (await owner_cli("api-keys", "list", "--json")).json[0]["readable"] is False
        (owner_cli.folder / "livewell.toml").write_text(_declared(simulator) + key)
        assert (await owner_cli("api-keys", "list", "--json")).json[0]["readable"] is True
