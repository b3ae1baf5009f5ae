"""Contract 13: no staleness without a TTL that somebody said; each guard shown to be needed."""

from typing import Any

import asyncpg
import pytest

from livewell.kernel import Database, LivewellError
from livewell.registry.tests.surface import NOON, Registry
from livewell.testing import make_endpoint, make_type
from tests.contracts.guards import take_away

DEFAULTED = """create function public.is_old(a timestamptz, b interval default '1 day', c timestamptz default now())
returns boolean language sql as 'select coalesce($1 + $2 <= $3, true)'"""


async def _no_default_ttl(owner: Database) -> None:
    """No staleness function, Livewell's or a user's, has a default for its TTL."""
    assert await owner.fetchval("select pronargdefaults from pg_proc where proname = 'is_stale'") == 0
    await owner.execute(DEFAULTED)
    with pytest.raises(LivewellError, match="default for its TTL"):
        await Registry(owner).put("quote", endpoint="sim/quote", ttl="1 minute", staleness="public.is_old")


async def _no_ttl_that_is_none(owner: Database) -> None:
    """Asked with no TTL, or one that is not positive, staleness is an error and not an answer."""
    for ttl in ("null", "interval '0'", "interval '-1 minute'"):
        with pytest.raises(LivewellError, match="TTL"):
            await owner.fetchval(f"select livewell.is_stale($1, {ttl}, $1)", NOON)


async def _no_type_without_ttl(owner: Database) -> None:
    """Neither a declaration nor a row by hand makes a type without a positive TTL."""
    fields: dict[str, Any] = {"endpoint": "sim/quote"}
    for ttl in ({}, {"ttl": None}, {"ttl": "0 seconds"}, {"ttl": "-1 day"}):
        with pytest.raises(LivewellError, match="ttl"):
            await Registry(owner).put("quote", **fields, **ttl)


@pytest.fixture
async def stage(owner: Database) -> Database:
    await make_endpoint(owner, "sim/quote")
    return owner


async def test_contract_13_a_ttl_is_explicit(stage: Database) -> None:
    """Contract 13: no staleness function has a default TTL, and neither function nor table takes one that is none."""
    await _no_default_ttl(stage)
    await _no_ttl_that_is_none(stage)
    await _no_type_without_ttl(stage)
    for ttl in (None, "0", "-1 minute"):
        with pytest.raises((asyncpg.CheckViolationError, asyncpg.NotNullViolationError)):
            await stage.execute(
                "insert into livewell_private.data_type (name, endpoint, ttl) values ('q', 'sim/quote',"
                " $1::text::interval)",
                ttl,
            )


@pytest.mark.parametrize(
    ("function", "guard", "instead", "proof"),
    [
        ("findings_on_staleness", "p.pronargdefaults >= 2", "false", _no_default_ttl),
        ("is_stale", "p_ttl is null or p_ttl <= interval '0'", "false", _no_ttl_that_is_none),
        (
            "type_problem",
            "not (p_type.ttl > interval '0' and p_type.ttl <= interval '10 years')",
            "false",
            _no_type_without_ttl,
        ),
    ],
)
async def test_contract_13_needs_its_guards(
    stage: Database, function: str, guard: str, instead: str, proof: Any
) -> None:
    """Without its guard each proof of contract 13 fails."""
    await take_away(stage, function, guard, instead)
    with pytest.raises((AssertionError, pytest.fail.Exception, asyncpg.PostgresError)):
        await proof(stage)


async def test_contract_13_needs_the_constraint(stage: Database) -> None:
    """Without the table's own constraint a row by hand could have no TTL to speak of."""
    await stage.execute("alter table livewell_private.data_type drop constraint type_ttl_is_positive")
    await make_type(stage, "quote", endpoint="sim/quote", ttl=NOON - NOON)
