"""`livewell up` as somebody runs it who has a `livewell.toml` and a provider, and nothing else."""

import asyncio
import signal
from datetime import timedelta
from typing import Any

import pytest
from pydantic_core import from_json

from livewell.kernel import Database
from livewell.presence import Presence
from livewell.simulator import Simulator, SimulatorOptions
from livewell.testing import until
from tests.acceptance.command import Cli

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


def _declare(cli: Cli, simulator: Simulator) -> None:
    (cli.folder / "livewell.toml").write_text(DECLARED.replace("BASE_URL", f"{simulator.url}/api/v3"))


async def _value(owner: Database, key: str) -> Any:
    text = await owner.fetchval("select value::text from livewell.record where data_type = 'quote' and key = $1", key)
    return text and from_json(text)


async def test_what_is_watched_is_fetched_and_kept_fresh(owner_cli: Cli, owner: Database) -> None:
    """From a file and a viewer to data that follows its source, with no code; SIGTERM ends it with 0."""
    async with Simulator(QUICK) as simulator:
        _declare(owner_cli, simulator)
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
        _declare(owner_cli, simulator)
        async with owner_cli.running("up", "--watch") as up:
            assert up.inner.stdout is not None
            presence, session = Presence(owner), None
            said: list[str] = []
            async with asyncio.timeout(60):
                while not any("1 items watched" in line and "changed" in line for line in said):
                    said.append((await up.inner.stdout.readline()).decode())
                    if session is None and "items watched" in said[-1]:
                        session = await presence.open("anna")
                        await presence.subscribe(session, [("quote", "AAPL")])
            assert any("quote AAPL" in line for line in said)
            up.send(signal.SIGTERM)
            assert await up.ended() == 0


async def test_roles_can_be_chosen(owner_cli: Cli, owner: Database) -> None:
    """A machine that only checks queues refreshes and runs none."""
    async with Simulator(QUICK) as simulator:
        _declare(owner_cli, simulator)
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
        (("--only", "wroker"), 2, "unknown role 'wroker' (did you mean worker? one of worker, checker) [cli.misused]"),
        (("--file", "nowhere.toml"), 1, "cannot read nowhere.toml: No such file or directory [cli.file_unavailable]"),
        (("nowhere:app",), 1, "[cli.no_application]"),
    ],
)
async def test_what_cannot_be_is_refused(owner_cli: Cli, arguments: tuple[str, ...], code: int, said: str) -> None:
    """A role, a file or an application that is not there is one line, before anything runs."""
    answer = await owner_cli("up", *arguments, code=code)
    assert said in answer.err
    assert answer.err.count("\n") == 1
