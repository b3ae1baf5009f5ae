"""A service login wants workers to send out what is on their machine: a file, a variable, a key to another address."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import pytest_asyncio
from pydantic_core import to_json

from livewell import Livewell
from livewell.budgets import BudgetStore, KeySources, OwnersChoice
from livewell.jobs import InvalidPayload, PayloadChecker
from livewell.kernel import Database, LivewellError, list_warnings
from livewell.simulator import Simulator, symbol_names
from livewell.testing import connected, make_key
from livewell.worker.tests.market import Market, market
from livewell.worker.tests.running import running
from tests.contracts.guards import take_away

SECRET = "what-only-this-machine-knows"
APPLY = "select * from livewell.apply_providers($1::text::jsonb)"
STATE = (
    "select (select jsonb_agg(p order by p.name) from livewell_private.provider as p)::text"
    " || coalesce((select jsonb_agg(k) from livewell_private.api_key as k)::text, '')"
    " || (select count(*) from livewell_private.audit_entry)"
)


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Simulator]:
    async with Simulator() as running:
        yield running


@pytest_asyncio.fixture
async def there(database_url: str, owner: Database, simulator: Simulator) -> AsyncIterator[Market]:
    """A worker's application with the service login, and a provider that catches what is sent."""
    async with market(Livewell(database_url), owner, simulator) as found:
        await owner.execute("update livewell_private.provider set key_in = 'query:apikey' where name = 'sim'")
        await found.declare()
        yield found


def _asked(**things: dict[str, dict[str, Any]]) -> str:
    return to_json(things).decode()


OWNERS = [
    _asked(keys={"sim@new": {"source": "env:DATABASE_URL"}}),
    _asked(keys={"sim@new": {"source": "file:/etc/hostname"}}),
    _asked(keys={"sim@old": {"source": "file:/etc/hostname"}}),
    _asked(keys={"sim@old": {"source": "env:OLD_API_KEY2", "concurrent": 3}}),
    _asked(providers={"sim": {"base_url": "https://evil.example"}}),
    _asked(providers={"sim": {"base_url": None}}),
    _asked(providers={"sim": {"hosts": ["evil.example"]}}),
    _asked(providers={"sim": {"key_in": "header:X-Key"}}),
    _asked(providers={"sim": {"key_in": None}}),
    _asked(providers={"sim": {"allow_private": False}}),
    _asked(providers={"evil": {"base_url": "https://evil.example"}}),
    _asked(providers={"evil": {"allow_private": True}}),
    _asked(providers={"evil": {"hosts": ["evil.example"]}}),
    _asked(providers={"evil": {"key_in": "bearer"}}),
    _asked(providers={"evil": {}}, endpoints={"sim/all": {"concurrent": 7}}, keys={"evil@k": {"source": "env:A"}}),
]
TUNED = [
    _asked(providers={"sim": {"state": "maintenance", "quota_window": "10 days", "description": "x"}}),
    _asked(endpoints={"sim/all": {"requests_per_minute": 5, "state": "disabled", "call_timeout": "2 seconds"}}),
    _asked(keys={"sim@old": {"concurrent": 3, "enabled": False, "scope": "shared"}}),
    _asked(keys={"sim@old": {"source": "env:OLD"}}),
    _asked(providers={"plain": {}}, endpoints={"plain/x": {"concurrent": 1}}),
]


async def _is_refused(owner: Database, database_url: str) -> None:
    """By a service login, as an application, and by an owner who plays the service; nothing is half-done."""
    await make_key(owner, "sim", "old")
    before = await owner.fetchval(STATE)
    async with connected(database_url) as service, connected(str(owner.options.url)) as playing:
        await playing.execute("set role livewell_service")
        for asked in OWNERS:
            for caller in (service, playing):
                with pytest.raises(asyncpg.PostgresError) as refused:
                    await caller.fetch(APPLY, asked)
                assert refused.value.sqlstate == "LWB06", (asked, str(refused.value))
    assert await owner.fetchval(STATE) == before


async def test_where_workers_call_and_what_they_read_is_the_owners(there: Market, database_url: str) -> None:
    """Sources, addresses, hosts, how keys travel, private networks: refused in one fact, and nothing is half-done."""
    await _is_refused(there.owner, database_url)


async def test_the_owner_may_and_the_fact_says_so(there: Market, database_url: str, database: Database) -> None:
    """The same declarations pass for a member of livewell_owner; the fact names field, role and command in one line."""
    with pytest.raises(OwnersChoice) as refused:
        await BudgetStore(database).set_provider("sim", {"base_url": "https://evil.example"}, reason=None, actor="me")
    assert refused.value.message == "provider sim: base_url is for the owner of the schema to change"
    assert "livewell apply with a login that was granted livewell_owner" in (refused.value.fix or "")
    assert "\n" not in str(refused.value)
    await make_key(there.owner, "sim", "old")
    async with connected(str(there.owner.options.url)) as connection:
        for pretence in ("reset role", "set role livewell_owner"):
            await connection.execute(pretence)
            for asked in OWNERS:
                await connection.execute("begin")
                await connection.fetch(APPLY, asked)
                await connection.execute("rollback")


async def test_a_service_may_tune_the_rest(there: Market, database: Database) -> None:
    """Limits, rates, quotas, states, and saying again what already is so."""
    await make_key(there.owner, "sim", "old")
    for asked in TUNED:
        await database.fetch(APPLY, asked)


async def _sent(there: Market, source: str) -> list[str | None]:
    """What arrives at the provider when a key has this source, whoever declared it."""
    await make_key(there.owner, "sim", "stolen", source=source)
    (key,) = symbol_names(1)
    async with running(there.app):
        await there.look_at([key])
        await there.outcome(key)
    return [call.api_key for call in there.simulator.calls]


@pytest.mark.parametrize("place", ["file", "variable"])
async def test_a_worker_sends_nothing_it_was_not_told_of(
    there: Market, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Also when the owner was tricked into declaring it: nothing is sent; item and warning say what would allow it."""
    monkeypatch.setenv("DEPLOY_PASSWORD", SECRET)
    (tmp_path / "id_rsa").write_text(SECRET)
    source = f"file:{tmp_path / 'id_rsa'}" if place == "file" else "env:DEPLOY_PASSWORD"
    assert await _sent(there, source) == []
    (seen,) = await there.app.freshness.explain_item("quote", *symbol_names(1))
    allowed_by = "LIVEWELL_KEY_FILES" if place == "file" else "LIVEWELL_KEY_VARIABLES"
    assert f"no key at {source}: it is not " in (seen.last_reason or "")
    assert allowed_by in (seen.last_reason or "")
    (warned,) = await list_warnings(there.owner, code="fetching.failed")
    assert allowed_by in warned.message
    assert SECRET not in warned.message


@pytest.mark.parametrize("place", ["file", "variable"])
async def test_without_the_allowlist_it_arrives(
    there: Market, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The same key goes out as soon as the surroundings of the worker allow it: it is the list that holds it back."""
    monkeypatch.setenv("DEPLOY_PASSWORD", SECRET)
    (tmp_path / "id_rsa").write_text(SECRET)
    there.app.key_sources = KeySources(variables=("DEPLOY_*",), folders=(tmp_path,))
    source = f"file:{tmp_path / 'id_rsa'}" if place == "file" else "env:DEPLOY_PASSWORD"
    assert await _sent(there, source) == [SECRET]


async def test_a_schema_is_read_nowhere_else(
    there: Market, database: Database, simulator: Simulator, tmp_path: Path
) -> None:
    """What a payload schema refers to, which a service writes, is neither opened nor called; it stops its own kind."""
    (tmp_path / "schema.json").write_text('{"type": "integer"}')
    for reference in (f"{simulator.url}/schema.json", f"file://{tmp_path}/schema.json"):
        await database.execute(
            "select livewell.declare_kinds($1::text::jsonb)",
            to_json([{"kind": reference[:4], "payload_schema": {"$ref": reference}}]).decode(),
        )
        checker = PayloadChecker(there.app.jobs)
        with pytest.raises(InvalidPayload, match=r"the payload schema of .* cannot be used: .* Retrieval is disabled"):
            await checker.check(reference[:4], {})
        await checker.check("refresh.quote", {"type": "quote", "key": "A", "item": 1, "cause": "x"})
    assert not simulator.calls


@pytest.mark.parametrize(
    ("function", "guard", "instead"),
    [
        ("change_budgets", "perform livewell_private.require_owner_for_calls(v_of_providers || v_of_keys);", ""),
        ("require_owner_for_calls", "livewell_private.calling_role()", "current_user"),
        ("require_owner_for_calls", "livewell_private.calling_role()", "session_user"),
        ("require_owner_for_calls", "'source'", "''"),
        ("require_owner_for_calls", "'base_url'", "''"),
        ("require_owner_for_calls", "'hosts'", "''"),
        ("require_owner_for_calls", "'key_in'", "''"),
        ("require_owner_for_calls", "'allow_private'", "''"),
        ("compare_declared", "then p_thing.defaults", "then v_new"),
        ("is_owner", "'livewell_owner'", "'livewell_service'"),
    ],
    ids=["call", "definer", "set role", "source", "base_url", "hosts", "key_in", "private", "new", "member"],
)
async def test_the_owners_choice_needs_its_guards(
    there: Market, database_url: str, function: str, guard: str, instead: str
) -> None:
    """Without any one of its guards, something of the owner's is changed by a service login."""
    await take_away(there.owner, function, guard, instead)
    with pytest.raises((AssertionError, LivewellError, pytest.fail.Exception)):
        await _is_refused(there.owner, database_url)
