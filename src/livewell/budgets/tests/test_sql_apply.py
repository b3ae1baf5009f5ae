"""Declared providers, endpoints and keys: planned and applied by the same code, whole or not at all."""

import json
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from livewell.budgets import InvalidBudget, UnknownProvider
from livewell.budgets.tests.declared import NOW, Declaring, changes
from livewell.kernel import Database
from livewell.testing import make_market_data

GB = 1024**3


@pytest_asyncio.fixture
async def declaring(owner: Database) -> Declaring:
    """As the owner: where keys are found and calls go is theirs to say."""
    await make_market_data(owner)
    return Declaring(owner)


async def test_a_new_database_has_no_providers(database: Database) -> None:
    """What ships is presets, which a person applies."""
    assert (
        await database.fetch("select name from livewell.providers union all select name from livewell.endpoints") == []
    )


async def test_the_defaults_are_those_of_the_tables(declaring: Declaring, owner: Database) -> None:
    """What a new endpoint or provider is, and what null sets a field back to, is what its table says."""
    await declaring.apply({"acme": {}}, {"acme/a": {"depth_limit": 5}})
    await owner.execute("alter table livewell_private.provider alter column pace set default 'none'")
    await owner.execute("alter table livewell_private.endpoint alter column depth_limit set default 77")
    await declaring.apply({"other": {}, "acme": {"pace": None}}, {"other/a": {}, "acme/a": {"depth_limit": None}})
    for provider in ("other", "acme"):
        assert (await declaring.provider(provider))["pace"] == "none"
        assert (await declaring.endpoint(f"{provider}/a"))["depth_limit"] == 77


async def test_what_is_new_is_added_with_its_defaults_and_what_counts_its_use(
    declaring: Declaring, owner: Database
) -> None:
    """A provider, an endpoint, an account and keys appear with the named fields, defaults, and rows to count on."""
    rows = await declaring.apply(
        {"acme": {"base_url": "https://acme.test"}},
        {"acme/a": {"requests_per_minute": 5, "send_within": "PT1S"}, "acme": {"concurrent": 2}},
        {"acme@one": {"source": "env:ACME"}, "acme@two": {"source": "file:/run/two", "scope": "shared"}},
    )
    assert [(row["thing"], row["name"], row["change"], row["field"]) for row in rows] == [
        ("provider", "acme", "add", None),
        ("endpoint", "acme", "add", None),
        ("endpoint", "acme/a", "add", None),
        ("key", "acme@one", "add", None),
        ("key", "acme@two", "add", None),
    ]
    assert json.loads(rows[2]["new"])["requests_per_minute"] == 5
    endpoint = await declaring.endpoint("acme/a")
    assert (endpoint["requests_per_minute"], endpoint["concurrent"], endpoint["depth_limit"]) == (5, 10, 1000)
    assert endpoint["send_within"].total_seconds() == 1
    counted = await owner.fetch("select name from livewell_private.limit_use where name like 'acme%' order by 1")
    assert [row["name"] for row in counted] == ["acme", "acme/a", "acme@one", "acme@shared"]
    assert await owner.fetchval("select count(*) from livewell_private.quota_use where provider = 'acme'") == 1
    keys = await declaring.caller.fetch("select name, scope, source from livewell.api_keys order by name")
    assert [tuple(row) for row in keys] == [("one", "one", "env:ACME"), ("two", "shared", "file:/run/two")]


async def test_a_plan_changes_nothing(declaring: Declaring, owner: Database) -> None:
    """Planning answers what applying would, and leaves no row, no audit entry and no lock behind."""
    declared: dict[str, Any] = {
        "providers": {"acme": {}, "fmp": {"quota_use": 0.9}},
        "endpoints": {"acme/a": {}, "fmp": {"requests_per_minute": 60, "limiter": "smooth"}},
        "keys": {"fmp@default": {"source": "env:FMP"}},
    }
    before = await owner.fetch("select * from livewell_private.endpoint order by name")
    plan = await declaring.raw(declared, plan_only=True)
    assert await owner.fetch("select * from livewell_private.endpoint order by name") == before
    assert await owner.fetchval("select count(*) from livewell_private.provider where name = 'acme'") == 0
    assert await declaring.events() == []
    assert changes(await declaring.raw(declared)) == changes(plan)
    assert ("endpoint", "fmp", "change", "requests_per_minute", 300, 60) in changes(plan)
    assert await declaring.events() == [
        ("provider_declared", "acme"),
        ("provider_changed", "fmp"),
        ("endpoint_declared", "acme/a"),
        ("endpoint_changed", "fmp"),
        ("api_key_declared", "fmp@default"),
    ]


async def test_applying_twice_changes_nothing(declaring: Declaring, owner: Database) -> None:
    """The same file again is `same` for each thing, moves no updated_at and leaves no audit entry."""
    declared: dict[str, Any] = {
        "providers": {"acme": {"quota_window": "P30D", "quota_bytes": 20 * GB}},
        "endpoints": {"acme/a": {"retry_after_max": "P1DT1H", "requests_per_hour": "unlimited"}},
        "keys": {"acme@k": {"source": "env:K"}},
    }
    await declaring.raw(declared)
    tables = "select to_jsonb(e) - 'granted', to_jsonb(p), to_jsonb(k) from livewell_private.provider p"
    tables += " join livewell_private.endpoint e"
    everything = (
        f"{tables} on e.provider = p.name left join livewell_private.api_key k on k.provider = p.name order by e.name"
    )
    before, events = await owner.fetch(everything), await declaring.events()
    again = await declaring.raw(declared, now=NOW + timedelta(minutes=1))
    assert [row["change"] for row in again] == ["same"] * 3
    assert await owner.fetch(everything) == before
    assert await declaring.events() == events
    other_words = {"endpoints": {"acme/a": {"retry_after_max": "25 hours", "limiter": "smooth"}}}
    assert [row["field"] for row in await declaring.raw(other_words)] == ["limiter"]


async def test_what_is_not_named_stays(declaring: Declaring) -> None:
    """A declaration sets what it names; what was tuned besides, and things it does not name, are left alone."""
    await declaring.set("endpoint", "fmp", {"depth_limit": 7})
    await declaring.apply({"fmp": {}}, {"fmp": {"requests_per_minute": 60}})
    endpoint = await declaring.endpoint("fmp")
    assert (endpoint["depth_limit"], endpoint["requests_per_minute"], endpoint["concurrent"]) == (7, 60, 10)
    assert (await declaring.provider("fmp"))["quota_bytes"] == 20 * GB


async def test_a_limit_is_cleared_by_its_word_and_reset_by_null(declaring: Declaring) -> None:
    """`unlimited` and `off` take a limit away, null is the default again."""
    await declaring.apply(
        {"openai": {}}, {"openai/gpt-4o-mini": {"requests_per_minute": "unlimited", "breaker_failures": "off"}}
    )
    endpoint = await declaring.endpoint("openai/gpt-4o-mini")
    assert (endpoint["requests_per_minute"], endpoint["breaker_failures"]) == (None, None)
    await declaring.apply(None, {"openai/gpt-4o-mini": {"requests_per_minute": None, "breaker_failures": None}})
    endpoint = await declaring.endpoint("openai/gpt-4o-mini")
    assert (endpoint["requests_per_minute"], endpoint["breaker_failures"]) == (60, 10)


async def test_a_changed_limit_applies_at_once(declaring: Declaring, owner: Database) -> None:
    """What waited for the old limit may ask again; an account's or a key's change concerns all of the provider."""
    await declaring.apply({"acme": {}}, {"acme": {}, "acme/a": {}, "acme/b": {}}, {"acme@k": {"source": "env:K"}})
    close = "update livewell_private.limit_use set next_allowed_at = 'infinity'"
    open_now = "select name from livewell_private.limit_use where next_allowed_at < 'infinity' order by 1"
    for name, opened in [("acme/a", ["acme/a"]), ("acme", ["acme", "acme/a", "acme/b", "acme@k"])]:
        await owner.execute(close)
        assert await declaring.set("endpoint", name, {"requests_per_minute": 99})
        assert [row["name"] for row in await owner.fetch(open_now)] == opened
    await owner.execute(close)
    await declaring.apply(None, None, {"acme@k": {"requests_per_hour": 5}})
    assert [row["name"] for row in await owner.fetch(open_now)] == ["acme", "acme/a", "acme/b", "acme@k"]
    await owner.execute(close)
    await declaring.apply(None, None, {"acme@another": {"source": "env:K"}})
    assert "acme/a" in [row["name"] for row in await owner.fetch(open_now)]


BAD_ENDPOINTS: list[Any] = [
    *({"requets": 1}, {"name": "x"}, {"requests_per_minute": 0}, {"requests_per_minute": -1}, {"tokens_per_hour": 0}),
    *({"concurrent": "many"}, {"concurrent": 10**12}, {"limiter": "sloppy"}, {"state": "asleep"}, {"send_within": "0"}),
    *({"send_within": "11 seconds"}, {"send_within": "soon"}, {"backpressure_share": 0}, {"backpressure_share": "NaN"}),
    *({"backpressure_delay": "-1 second"}, {"depth_limit": 0}, {"expected_bytes": 0}, {"max_bytes": 1}),
    *({"max_tokens": 0}, {"retry_after": "0"}, {"retry_after_max": "1 second"}, {"breaker_failures": 0}),
    *({"breaker_window": "0"}, {"breaker_cooldown": "0"}, {"breaker_cooldown_max": "1 second"}, {"breaker_trials": 0}),
    *({"limiter": "unlimited"}, {"send_within": "unlimited"}, {"max_bytes": "off"}, [1], "x", 1.5),
]


async def test_an_endpoint_that_cannot_be_is_refused_whole(declaring: Declaring) -> None:
    """A field that cannot be so is named, planned or applied, and nothing of the declaration is done."""
    for fields in BAD_ENDPOINTS:
        for plan_only in (True, False):
            with pytest.raises(InvalidBudget) as refused:
                await declaring.apply({"acme": {}}, {"acme/a": fields}, plan_only=plan_only)
            if refused.value.detail and isinstance(fields, dict):
                assert next(iter(fields)) in str(refused.value)
                assert refused.value.detail == "endpoint acme/a"
    assert await declaring.caller.fetch("select from livewell.providers where name = 'acme'") == []
    assert await declaring.events() == []


NONSENSE: list[Any] = [
    *({"providers": {"a b": {}}}, {"providers": {"a@b": {}}}, {"providers": {"": {}}}, {"providers": []}),
    *({"providers": {"fmp": {"quota_bytes": 0}}}, {"providers": {"fmp": {"quota_use": 0}}}),
    *({"providers": {"fmp": {"quota_use": 1.01}}}, {"providers": {"fmp": {"quota_use": "NaN"}}}),
    *({"providers": {"fmp": {"quota_window": "90 minutes"}}}, {"providers": {"fmp": {"quota_window": "401 days"}}}),
    *({"providers": {"fmp": {"pace_bucket": "31 days"}}}, {"providers": {"fmp": {"pace_bucket": "0"}}}),
    *({"providers": {"fmp": {"state": "off"}}}, {"providers": {"fmp": {"pace": "fast"}}}),
    *({"provider": {}}, [], None, "x", {"keys": 1}, {"endpoints": {"fmp/a b": {}}}, {"endpoints": {"fmp/": {}}}),
    *({"keys": {"fmp@k": {}}}, {"keys": {"fmp@k": {"source": "sk-live-123"}}}, {"keys": {"fmp": {}}}),
    *({"keys": {"fmp@k": {"source": "env:1"}}}, {"keys": {"fmp@k": {"source": "env:K", "scope": "a/b"}}}),
    {"keys": {"fmp@k": {"source": "env:K", "concurrent": 0}}},
]


async def test_nonsense_is_refused(declaring: Declaring) -> None:
    """Names, shares, windows and sources that make no sense are facts, which never repeat what may be a key."""
    for declared in NONSENSE:
        with pytest.raises(InvalidBudget) as refused:
            await declaring.raw(declared)
        assert "sk-live" not in str(refused.value)
    assert await declaring.events() == []


async def test_an_endpoint_of_nobody_is_refused(declaring: Declaring) -> None:
    """An endpoint or a key needs a provider that is there or declared with it."""
    with pytest.raises(UnknownProvider, match="nosuch"):
        await declaring.apply(None, {"nosuch/a": {}})
    with pytest.raises(UnknownProvider, match="nosuch"):
        await declaring.apply(None, None, {"nosuch@k": {"source": "env:K"}})


KB = 1024


def _acme(use: float, **account: Any) -> dict[str, Any]:
    return {
        "providers": {"acme": {"quota_bytes": 1000 * KB, "quota_use": use}},
        "endpoints": {
            "acme/a": {"concurrent": 5, "expected_bytes": KB, "max_bytes": 10 * KB},
            "acme/b": {"concurrent": 2, "expected_bytes": KB, "max_bytes": 20 * KB},
            **({"acme": {"expected_bytes": KB, "max_bytes": KB, **account}} if account else {}),
        },
    }


@pytest.mark.parametrize(
    ("declared", "fits"),
    [
        (_acme(0.91), True),  # 5 × 10 + 2 × 20 = 90 kB, exactly what is kept free
        (_acme(0.911), False),
        (_acme(0.95, concurrent=3), True),  # the account lets 2 × 20 + 1 × 10 = 50 kB through
        (_acme(0.951, concurrent=3), False),
        (_acme(1.0, concurrent=3), False),
        (_acme(0.91, concurrent="unlimited"), True),
    ],
)
async def test_a_quota_holds_against_calls_in_flight(declaring: Declaring, declared: Any, fits: bool) -> None:  # noqa: FBT001 - a case
    """What calls in flight may take beyond their estimates fits into what is kept free, or the settings are refused."""
    if fits:
        await declaring.raw(declared)
    else:
        with pytest.raises(InvalidBudget, match="in flight could take"):
            await declaring.raw(declared)
        assert await declaring.events() == []


async def test_a_quota_needs_a_bound_on_calls_in_flight(declaring: Declaring) -> None:
    """Without any concurrency a quota is refused; the account's is enough, and calls of a known size need none."""
    endless = {"acme/a": {"concurrent": "unlimited"}}
    with pytest.raises(InvalidBudget, match="nothing limits"):
        await declaring.apply({"acme": {"quota_bytes": GB}}, endless)
    await declaring.apply({"acme": {"quota_bytes": GB}}, {**endless, "acme": {"concurrent": 2}})
    exact = {"concurrent": "unlimited", "expected_bytes": 500, "max_bytes": 500}
    await declaring.apply({"exact": {"quota_bytes": GB, "quota_use": 1}}, {"exact/a": exact})
    with pytest.raises(InvalidBudget, match="nothing limits"):
        await declaring.set("endpoint", "acme", {"concurrent": "unlimited"})
    assert (await declaring.endpoint("acme"))["concurrent"] == 2
    with pytest.raises(InvalidBudget, match="in flight could take"):
        await declaring.set("provider", "acme", {"quota_use": 1})
