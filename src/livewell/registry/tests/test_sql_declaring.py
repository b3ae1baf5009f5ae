"""Types are data: declared from a plan, one row each, audited, and live in the same transaction."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from livewell.kernel import Database
from livewell.registry import InvalidType, TypeDeclaration, UnknownType, type_fields
from livewell.registry.tests.surface import MINUTE, NOON, Registry
from livewell.testing import make_endpoint, make_table, make_type

QUOTE: dict[str, Any] = {"endpoint": "sim/quote", "ttl": "1 minute"}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"ttl": None}, "ttl is missing"),
    ({"ttl": "0 seconds"}, "ttl must be above 0"),
    ({"ttl": "-1 minute"}, "ttl must be above 0"),
    ({"ttl": "11 years"}, "at most 10 years"),
    ({"ttl": 60}, "ttl has no unit"),
    ({"ttl": "60"}, "ttl has no unit"),
    ({"ttl": "soon"}, "cannot be so"),
    ({"endpoint": None}, "endpoint is missing"),
    ({"endpoint": "sim/qoute"}, "unknown endpoint sim/qoute"),
    ({"tll": "1 minute"}, 'unknown field "tll"'),
    ({"table_name": "quotes", "key_column": "k", "time_column": "t"}, "table must be SCHEMA.NAME"),
    ({"table_name": "public.quotes"}, "needs key_column and time_column"),
    ({"key_column": "symbol"}, "columns are those of a table"),
    ({"table_name": "livewell_private.job", "key_column": "kind", "time_column": "due_at"}, "livewell are its own"),
    ({"staleness": "livewell.setting_boolean"}, "staleness must be livewell.is_stale"),
    ({"gate": "sometimes"}, "gate must be SCHEMA.NAME"),
    ({"gate": "livewell_private.gate_market_hours"}, "gate must be always, market_hours"),
    ({"strategy": "often"}, "strategy must be"),
    ({"strategy": "scheduled"}, "needs a cron expression"),
    ({"cron": "@daily"}, "goes with strategy"),
    ({"strategy": "both", "cron": "61 * * * *"}, "minute 61"),
    ({"strategy": "both", "cron": "0 0 30 2 *"}, "never comes"),
    ({"strategy": "both", "cron": "@daily", "time_zone": "Mars/Olympus"}, "no time zone"),
    ({"priority_floor": 1000}, "floor must be from 0 to 999"),
    ({"expected_bytes": 0}, "bytes must be above 0"),
    ({"source_rule": "older"}, "source_time.rule must be"),
    ({"keys_per_request": 0}, "keys_per_request must be"),
    ({"value_rule": "guess"}, "value_rule must be"),
    ({"read_rule": "everybody"}, "read must be nobody, signed_in, public, rls, a claim or a function"),
    ({"key_pattern": "[A-Z]+"}, "from \\^ to"),
    ({"key_pattern": "^[A-Z+$"}, "no regular expression"),
    ({"keys_table": "public.symbols"}, "keys.table needs keys.column"),
    ({"keys_key_column": "symbol"}, "name keys.table"),
    ({"queue_group": "No Group"}, "group must be"),
]
NO_NAMES = ["", "Quote", "1st", "a b", 'a"; drop table x', "ä", "a" * 64, "a/b"]


async def test_the_plan_and_the_change_are_the_same(registry: Registry) -> None:
    """What a plan says is what applying does; a plan does nothing; applied again, all is the same."""
    planned = await registry.put("quote", plan_only=True, **QUOTE)
    assert await registry.row("quote") == {}
    assert await registry.put("quote", **QUOTE) == planned
    assert [(name, change, field) for name, change, field, _, _ in planned] == [("quote", "add", None)]
    assert await registry.put("quote", **{**QUOTE, "ttl": "60 seconds"}) == [("quote", "same", None, None, None)]
    changed = await registry.put("quote", plan_only=True, ttl="2 minutes", priority_floor=5)
    assert changed == [
        ("quote", "change", "priority_floor", "0", "5"),
        ("quote", "change", "ttl", '"00:01:00"', '"00:02:00"'),
    ]


async def test_what_is_not_named_stays_and_null_is_the_default(registry: Registry) -> None:
    """A declaration changes what it names; null and empty text set a field back."""
    await registry.put("quote", **QUOTE, gate="market_hours", priority_floor=7, model="Quote")
    await registry.put("quote", gate=None, model="")
    row = await registry.row("quote")
    assert (row["gate"], row["priority_floor"], row["model"]) == ("always", 7, None)


async def test_what_goes_with_a_field_goes_with_it(registry: Registry, owner: Database) -> None:
    """Without its table a type has none of its columns, on demand it has no cron expression."""
    table = await make_table(owner, "public.quotes", ttl_column="own_ttl")
    await registry.put("quote", **QUOTE, **table, strategy="both", cron="0 6 * * *")
    await registry.put("quote", table_name="", strategy="on_demand")
    row = await registry.row("quote")
    assert {row[field] for field in ("table_name", "key_column", "time_column", "ttl_column", "cron")} == {None}


async def test_a_type_that_cannot_be_is_refused(registry: Registry) -> None:
    """What cannot be is refused whole, with a fact that names the field; nothing of the batch is applied."""
    for fields, words in REFUSED:
        with pytest.raises(InvalidType, match=words) as refused:
            await registry.apply({"a": QUOTE, "quote": {**QUOTE, **fields}})
        assert refused.value.detail == (None if words == "cannot be so" else "type quote")
        assert await registry.row("a") == {}


async def test_a_type_has_a_plain_name(registry: Registry) -> None:
    """A type's name becomes part of kinds, keys and addresses: nothing else gets in."""
    for name in NO_NAMES:
        with pytest.raises(InvalidType):
            await registry.put(name, **QUOTE)


async def test_writing_a_type_declares_its_kind(registry: Registry, owner: Database) -> None:
    """However a type is written, its refreshes are jobs of a known kind, in its group."""
    await registry.put("quote", **QUOTE, queue_group="core")
    await make_type(owner, "by-hand")
    await registry.put("quote", queue_group="other")
    rows = await owner.fetch(
        "select kind, queue_group from livewell_private.job_kind where kind like 'refresh.%' order by 1"
    )
    assert [tuple(row) for row in rows] == [("refresh.by-hand", "refresh"), ("refresh.quote", "other")]


async def test_watched_items_are_due_when_what_decides_changes(registry: Registry, owner: Database) -> None:
    """A changed TTL, gate, staleness or table makes what is watched due with the change, and nothing else does."""
    table = await make_table(owner, "public.quotes")
    await owner.execute(
        "create function public.is_old(timestamptz, interval, timestamptz) returns boolean language sql as"
        " 'select coalesce($1 + $2 < $3, true)'"
    )
    await registry.put("quote", **QUOTE)
    await owner.execute(
        "insert into livewell_private.item (data_type, key, viewers, due_at)"
        " values ('quote', 'A', 1, $1), ('quote', 'B', 0, $1)",
        NOON,
    )
    changes: list[tuple[dict[str, Any], timedelta]] = [
        ({"ttl": "2 minutes"}, MINUTE),
        ({"gate": "market_hours"}, MINUTE),
        ({"staleness": "public.is_old"}, MINUTE),
        (table, MINUTE),
        ({"description": "prices"}, 9 * MINUTE),
        ({"ttl": "120 seconds"}, 9 * MINUTE),
    ]
    for fields, due in changes:
        await owner.execute("update livewell_private.item set due_at = $1", NOON + 9 * MINUTE)
        await registry.put("quote", NOON + MINUTE, **fields)
        rows = await owner.fetch("select due_at from livewell_private.item order by key")
        assert [row["due_at"] for row in rows] == [NOON + due, NOON + 9 * MINUTE], fields


async def test_a_read_rule_is_declared_like_any_field(registry: Registry, owner: Database) -> None:
    """Nobody reads a type unless that is said; opening it is planned, applied and audited."""
    await registry.put("quote", **QUOTE)
    assert (await registry.row("quote"))["read_rule"] == "nobody"
    declared = type_fields(TypeDeclaration(read="public"))
    assert await registry.put("quote", **declared) == [("quote", "change", "read_rule", '"nobody"', '"public"')]
    assert (
        await owner.fetchval(
            "select new ->> 'read_rule' from livewell_private.audit_entry where event = 'type_changed' and"
            " record_id = 'quote'"
        )
        == "public"
    )
    for wrong in ("everybody", {"claim": "tenant"}, {"function": 7}, {"claim": "a", "equals": "key", "or": 1}, {}, 7):
        with pytest.raises(ValidationError, match='should be "nobody", "signed_in", "public" or "rls"'):
            TypeDeclaration.model_validate({"read": wrong})


async def test_a_rule_takes_back_what_another_needed(registry: Registry) -> None:
    """A claim, then a function, then a word: each is what it says and nothing of the one before."""
    await registry.put("quote", **QUOTE)
    fields = ("read_rule", "read_claim", "read_equals", "read_function")
    for rule, expected in (
        ({"claim": "tenant", "equals": "column:value"}, ("claim", "tenant", "column:value", None)),
        ({"claim": "tenant", "equals": "value:gold"}, ("claim", "tenant", "value:gold", None)),
        ("public", ("public", None, None, None)),
    ):
        await registry.put("quote", **type_fields(TypeDeclaration.model_validate({"read": rule})))
        row = await registry.row("quote")
        assert tuple(row[field] for field in fields) == expected


NO_RULES: list[tuple[dict[str, object], str]] = [
    ({"read_rule": "claim"}, "read.claim must name a claim"),
    ({"read_rule": "claim", "read_claim": "a\u202eb", "read_equals": "key"}, "read.claim must name a claim"),
    ({"read_rule": "claim", "read_claim": "tenant"}, "read.equals must be"),
    ({"read_rule": "claim", "read_claim": "tenant", "read_equals": "tenant"}, "read.equals must be"),
    ({"read_rule": "claim", "read_claim": "tenant", "read_equals": "column:a b"}, "read.equals must be"),
    ({"read_rule": "claim", "read_claim": "tenant", "read_equals": "column:nothing"}, "has no column nothing"),
    ({"read_rule": "public", "read_claim": "tenant"}, "read.claim and read.equals are for"),
    ({"read_rule": "function"}, "read.function must be"),
    ({"read_rule": "function", "read_function": "may read"}, "read.function must be"),
    ({"read_rule": "function", "read_function": "livewell.share"}, "a function of your own"),
    ({"read_rule": "function", "read_function": "public.nothing"}, "there is no function"),
    ({"read_rule": "rls"}, "has no row-level security"),
    ({"read_rule": "rls", "table_name": None, "key_column": None, "time_column": None}, "for a table of your own"),
    ({"read_claims": [""]}, "read_claims must be"),
    ({"read_claims": ["a"] * 21}, "read_claims must be"),
]


async def test_a_rule_that_cannot_be_is_refused(registry: Registry, owner: Database) -> None:
    """What it needs is missing, is no name, is not there, or would leave everything open: a fact that says which."""
    table = await make_table(owner, "public.quotes")
    for fields, reason in NO_RULES:
        with pytest.raises(InvalidType, match=reason):
            await registry.put("quote", **{**QUOTE, **table, **fields})


async def test_every_change_is_audited(registry: Registry, owner: Database) -> None:
    """Added, changed, removed: each with who and what; what stays the same is not."""
    await registry.put("quote", **QUOTE)
    await registry.put("quote", **QUOTE)
    await registry.put("quote", ttl="1 hour")
    await registry.remove("quote")
    rows = await owner.fetch(
        "select event, actor, old ->> 'ttl' as old, new ->> 'ttl' as new from livewell_private.audit_entry"
        " where table_name = 'data_type' order by id"
    )
    assert [tuple(row) for row in rows] == [
        ("type_added", "tests", None, "00:01:00"),
        ("type_changed", "tests", "00:01:00", "01:00:00"),
        ("type_removed", "tests", "01:00:00", None),
    ]


async def test_two_who_declare_at_once_agree(registry: Registry, owner: Database) -> None:
    """Declarations wait for each other: the second finds what the first made."""
    both = await asyncio.gather(*(registry.put("quote", **QUOTE) for _ in range(4)))
    assert sorted(change for answer in both for _, change, *_ in answer) == ["add", "same", "same", "same"]


async def test_a_type_is_refused_before_it_is_live(registry: Registry, owner: Database) -> None:
    """An enabled type whose table is not there is refused with the fix; a disabled one may wait for its table."""
    table: dict[str, Any] = {"table_name": "public.quotes", "key_column": "symbol", "time_column": "fetched_at"}
    with pytest.raises(InvalidType, match="there is no table or view") as refused:
        await registry.put("quote", **QUOTE, **table)
    assert refused.value.fix == "create it, or write enabled = false until it is there"
    await registry.put("quote", **QUOTE, **table, enabled=False)
    with pytest.raises(InvalidType, match="no table"):
        await registry.put("quote", enabled=True)
    await make_table(owner, "public.quotes")
    await registry.put("quote", enabled=True)
    assert (await registry.row("quote"))["enabled"] is True


async def test_a_type_whose_table_went_does_not_stop_another(registry: Registry, owner: Database) -> None:
    """What stays as declared is not checked again: a broken type does not keep others from being declared."""
    table = await make_table(owner, "public.quotes")
    await registry.put("quote", **QUOTE, **table)
    await owner.execute("drop table public.quotes")
    await make_endpoint(owner, "sim/profile")
    profile = {"endpoint": "sim/profile", "ttl": "1 day"}
    answer = await registry.apply({"quote": {**QUOTE, **table}, "profile": profile})
    assert [(name, change) for name, change, *_ in answer] == [("profile", "add"), ("quote", "same")]


async def test_tuning_a_type_that_is_not_there_is_refused(owner: Database, registry: Registry) -> None:
    """An unknown type is told with what was probably meant."""
    await registry.put("quote", **QUOTE)
    with pytest.raises(UnknownType, match="unknown type quotes") as refused:
        await owner.fetchval("""select livewell.set_type('quotes', '{"ttl": "1 day"}')""")
    assert refused.value.fix == "did you mean quote?"
    assert await owner.fetchval("""select livewell.set_type('quote', '{"ttl": "1 day"}')""") is True
    assert await owner.fetchval("""select livewell.set_type('quote', '{"ttl": "24 hours"}')""") is False
    assert (await registry.row("quote"))["ttl"] == timedelta(days=1)
