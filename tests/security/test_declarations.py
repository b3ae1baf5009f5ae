"""How a type is fetched is not for users to see, and no place for secrets."""

import random
import string
from typing import Any

import pytest
import pytest_asyncio
from pydantic_core import from_json, to_json

from livewell.kernel import Connection, Database, LivewellError
from livewell.registry import InvalidType, RegistryStore
from livewell.testing import make_endpoint, make_type
from tests.contracts.guards import take_away

FOR_USERS = {
    "name",
    "description",
    "ttl",
    "key_pattern",
    "enabled",
    "read_rule",
    "keys_only_known",
    "created_at",
    "updated_at",
}
CALL = {"path": "/quote/{key}", "headers": {"X-Client": "partner-7"}, "query": {"format": "full"}}
SECRETS = [
    ("headers", "Authorization", "Bearer abcdef123456"),
    ("headers", "Authorization", "x"),
    ("headers", "X-Api-Key", "d41d8cd9"),
    ("headers", "Ocp-Apim-Subscription-Key", "0123456789abcdef"),
    ("headers", "X-Custom", "Token 9944b09199c62bcf"),
    ("headers", "X-Custom", "sk-proj-Zk3nq8VYxTq2LmP0"),
    ("headers", "X-Custom", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"),
    ("headers", "X-Trace", "d41d8cd98f00b204e9800998ecf8427e"),
    ("query", "apikey", "demo-1234"),
    ("query", "access_token", "Zk3nq8VYxTq2LmP0"),
    ("query", "client_secret", "s3cr3t!"),
    ("query", "appid", "b6907d289e10d714a6e88b30761fae22"),
    ("query", "key", "AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"),
    ("query", "with", "user:pass api_key=abcdef12"),
    ("query", "back", "https://ann:hunter22@example.com/"),
]
ORDINARY = [
    ("Accept", "application/vnd.github.v3+json; charset=utf-8, text/html;q=0.9, */*;q=0.8"),
    ("Accept-Language", "de-DE,de;q=0.9,en;q=0.8"),
    ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.6099.129"),
    ("X-Api-Version", "2023-10-31"),
    ("X-GitHub-Api-Version", "2022-11-28"),
    ("Content-Language", "en"),
    ("fields", "symbol,regularMarketPreviousClose,fiftyTwoWeekHighChangePercent,volume24h,change_52_week_high_low"),
    ("field", "fiftyTwoWeekHighChangePercent52"),
    ("from", "2024-01-01T00:00:00.000000Z"),
    ("to", "1700000000000"),
    ("key", "{key}"),
    ("keys", "{keys}"),
    ("apikey", "{key}"),
    ("token", "symbol"),
    ("token", "true"),
    ("key", "symbol"),
    ("sort", "-market_cap_usd"),
    ("timezone", "America/Argentina/Buenos_Aires"),
    ("isin", "US0378331005"),
    ("tenant", "550e8400-e29b-41d4-a716-446655440000"),
    ("range", "1d,5d,1mo,3mo,6mo,1y,2y,5y,10y,ytd,max"),
    ("q", "repo:octo/hello is:open label:good-first-issue"),
]


@pytest_asyncio.fixture
async def stage(owner: Database) -> Database:
    """A provider, and a type with everything a type can have."""
    await make_endpoint(owner, "acme/quote")
    await owner.execute("update livewell_private.provider set base_url = 'https://acme.example' where name = 'acme'")
    await make_type(
        owner, "quote", endpoint="acme/quote", fetch_call=to_json(CALL).decode(), fields='{"p": {"type": "number"}}'
    )
    return owner


async def _declare(owner: Database, call: dict[str, Any], **fields: Any) -> None:
    wanted = {"endpoint": "acme/quote", "ttl": "1 minute", "fields": {"p": {"type": "number"}}, **fields}
    await RegistryStore(owner).apply_types({"other": {**wanted, "fetch_call": call}}, plan_only=False, actor="ann")


async def _seen(connection: Connection, role: str) -> dict[str, Any]:
    async with connection.transaction():
        await connection.execute(f"set local role {role}")
        row = await connection.fetchrow("select * from livewell.data_types where name = 'quote'")
        return {column: value for column, value in dict(row or {}).items() if value is not None}


async def _users_see_what_a_client_needs(owner: Database) -> None:
    async with owner.connection() as connection:
        assert (await _seen(connection, "livewell_user")).keys() == FOR_USERS


async def test_users_see_of_a_type_what_a_client_needs(stage: Database, database: Database) -> None:
    """Name, description, TTL, keys and who reads; service and owner see how it is fetched, too."""
    await _users_see_what_a_client_needs(stage)
    async with stage.connection() as connection:
        for role in ("livewell_service", "livewell_owner"):
            seen = await _seen(connection, role)
            assert seen["endpoint"] == "acme/quote"
            assert from_json(seen["fetch_call"]) == CALL
        with pytest.raises(LivewellError, match="permission denied"):
            await _seen(connection, "livewell_anon")
    (found,) = await RegistryStore(database).list_types(["quote"])
    assert found.fetch_call == CALL


async def _no_function_is_shown_it(owner: Database) -> None:
    async with owner.transaction() as connection:
        await connection.execute("set local role livewell_user")
        await connection.execute(
            "create function pg_temp.leak(p jsonb) returns boolean language plpgsql strict cost 0.0000001 as"
            " $$ begin perform set_config('leaked.what', coalesce(p::text, ''), false); return true; end $$"
        )
        await connection.fetch("select name from livewell.data_types where pg_temp.leak(fetch_call)")
        assert not await connection.fetchval("select current_setting('leaked.what', true)")
        await connection.execute("drop function pg_temp.leak(jsonb)")


async def test_no_function_of_a_users_is_shown_it(stage: Database) -> None:
    """A function that costs nothing and remembers what it is called with is not called with what is hidden."""
    await _no_function_is_shown_it(stage)


async def test_what_is_hidden_needs_its_guard(stage: Database) -> None:
    """Without the question who reads, users see it, and so do their functions."""
    definition = await stage.fetchval("select pg_get_viewdef('livewell.data_types'::regclass)")
    mutated = definition.replace("'livewell_service'", "'livewell_user'")
    assert mutated != definition
    await stage.execute(f"create or replace view livewell.data_types as {mutated}")
    for proof in (_users_see_what_a_client_needs, _no_function_is_shown_it):
        with pytest.raises(AssertionError):
            await proof(stage)


async def _is_refused(owner: Database) -> None:
    for place, name, value in SECRETS:
        with pytest.raises(InvalidType, match=f"fetch.{place}.{name} looks like a secret") as refused:
            await _declare(owner, {"path": "/x/{key}", place: {name: value}}, enabled=False)
        assert value not in str(refused.value)
        assert "key_in = " in (refused.value.fix or "")
        assert "\n" not in str(refused.value)
    assert await owner.fetchval("select count(*) from livewell_private.data_type where name = 'other'") == 0


async def test_a_secret_in_a_declared_fetch_is_refused(stage: Database) -> None:
    """By its name, by how it begins or by chance in it: the field is named with `key_in`, and never what it holds."""
    await _is_refused(stage)


async def test_what_was_written_before_is_told_and_can_be_tuned(stage: Database) -> None:
    """A secret that is there already is a finding of `types check`; other fields of its type can be changed."""
    secret = {"path": "/quote/{key}", "headers": {"X-Api-Key": "0123456789abcdef"}}
    await stage.execute("update livewell_private.data_type set fetch_call = $1::text::jsonb", to_json(secret).decode())
    found = await stage.fetch("select problem, message from livewell.check_types(array['quote'])")
    told = next(row["message"] for row in found if row["problem"] == "secret_declared")
    assert told == "fetch.headers.X-Api-Key looks like a secret, and is kept and shown as it is written"
    await RegistryStore(stage).set_type("quote", {"ttl": "2 minutes"}, reason=None, actor="ann")
    with pytest.raises(InvalidType):
        await RegistryStore(stage).set_type(
            "quote", {"fetch_call": {**secret, "path": "/q/{key}"}}, reason=None, actor="a"
        )


async def _nothing_is_in_the_log(owner: Database) -> None:
    await _declare(owner, CALL)
    await _declare(owner, {**CALL, "headers": {"X-Client": "partner-8"}, "query": {"format": "short"}})
    await RegistryStore(owner).remove_type("other", force=True, reason=None, actor="ann")
    entries = await owner.fetch(
        "select old -> 'fetch_call' as old, new -> 'fetch_call' as new, e::text as whole"
        " from livewell_private.audit_entry as e where table_name = 'data_type' order by id"
    )
    assert len(entries) == 3
    masked = {"path": "/quote/{key}", "headers": {"X-Client": "•••"}, "query": {"format": "•••"}}
    for entry in entries:
        assert {text for text in (entry["old"], entry["new"]) if text is not None}
        assert all(from_json(text) == masked for text in (entry["old"], entry["new"]) if text is not None)
        assert not any(value in entry["whole"] for value in ("partner-", '"full"', '"short"'))


async def test_headers_and_parameters_are_masked_in_the_audit_log(stage: Database) -> None:
    """That they are sent is recorded, what they hold is not: when a type is added, changed and removed."""
    await _nothing_is_in_the_log(stage)


@pytest.mark.parametrize(
    ("function", "guard", "instead"),
    [
        ("change_types", "livewell_private.masked_fetch(c.old)", "c.old"),
        ("change_types", "livewell_private.masked_fetch(c.new)", "c.new"),
        ("remove_type", "livewell_private.masked_fetch(to_jsonb(v_type)", "(to_jsonb(v_type)"),
        ("masked_fetch", "'headers', 'query'", "'headers'"),
    ],
)
async def test_the_mask_needs_its_guards(stage: Database, function: str, guard: str, instead: str) -> None:
    """Without any one of them, what is sent stands in the log."""
    await take_away(stage, function, guard, instead)
    with pytest.raises(AssertionError):
        await _nothing_is_in_the_log(stage)


@pytest.mark.parametrize(
    ("function", "guard", "instead"),
    [
        (
            "require_possible_types",
            "cross join lateral livewell_private.secrets_in_fetch(t.fetch_call) as s",
            ", (select '' as field, '' as key_in limit 0) as s",
        ),
        ("secrets_in_fetch", "('headers', 'header:'), ", ""),
        ("secrets_in_fetch", ", ('query', 'query:')", ""),
        ("looks_secret", "length(piece) >= 16", "false"),
        ("looks_secret", "s.name ~ '^(proxy)?authorization$'", "false"),
        ("looks_secret", "(apikey|", "("),
    ],
)
async def test_the_refusal_needs_its_guards(stage: Database, function: str, guard: str, instead: str) -> None:
    """Without any one of its questions, a secret is written down."""
    await take_away(stage, function, guard, instead)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        await _is_refused(stage)


async def _taken_for_secrets(owner: Database, said: list[tuple[str, str]]) -> list[tuple[str, str]]:
    rows = await owner.fetch(
        "select name, value from unnest($1::text[], $2::text[]) as v (name, value)"
        " where livewell_private.looks_secret(v.name, v.value)",
        [name for name, _ in said],
        [value for _, value in said],
    )
    return [tuple(row) for row in rows]


async def test_what_apis_are_ordinarily_sent_is_no_secret(owner: Database) -> None:
    """Media types, languages, agents, versions, times, zones, lists of fields, and what is filled in later."""
    assert await _taken_for_secrets(owner, ORDINARY) == []


async def test_ordinary_values_of_all_kinds_are_no_secrets(owner: Database) -> None:
    """Thousands of lists of fields, dates, versions, media types, numbers and names as APIs write them: no alarm."""
    chance = random.Random(11)
    said = [("param", _ordinary(chance)) for _ in range(5_000)]
    assert await _taken_for_secrets(owner, said) == []


async def test_tokens_are_secrets_whatever_they_are_called(owner: Database) -> None:
    """Of tokens drawn by chance nine in ten are found under any name, and all under a name that says what they are."""
    chance = random.Random(12)
    alphabets = (string.hexdigits[:16], string.ascii_lowercase + string.digits, string.ascii_letters + string.digits)
    tokens = [
        "".join(chance.choices(alphabet, k=length))
        for alphabet in alphabets
        for length in (24, 32, 40, 64)
        for _ in range(200)
    ]
    assert len(await _taken_for_secrets(owner, [("param", token) for token in tokens])) > 0.9 * len(tokens)
    for name in ("apikey", "X-API-Key", "access_token", "api_secret", "password"):
        assert len(await _taken_for_secrets(owner, [(name, token) for token in tokens])) == len(tokens)


_WORDS = (
    *("symbol", "price", "change", "regular", "market", "previous", "close", "fifty", "two", "week", "high", "low"),
    *("volume", "average", "percent", "adjusted", "dividend", "currency", "exchange", "timestamp", "description"),
)


def _ordinary(chance: random.Random) -> str:
    """A value as APIs take it."""
    words = chance.choices(_WORDS, k=chance.randint(1, 6))
    number = chance.choice(["", "", "1", "24h", "52", "200", "2"])
    camel = words[0] + "".join(word.title() for word in words[1:]) + number
    date = f"20{chance.randint(10, 39)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
    return chance.choice(
        [
            "_".join(words) + number,
            camel,
            ",".join([camel, *words]),
            ",".join("_".join(chance.choices(_WORDS, k=3)) + number for _ in range(8)),
            date,
            f"{date}T{chance.randint(0, 23):02}:00:00+02:00",
            f"{date.replace('-', '')}T{chance.randint(0, 235959):06}Z",
            f"v{chance.randint(0, 30)}.{chance.randint(0, 30)}.{chance.randint(0, 99)}-beta{chance.randint(1, 9)}",
            f"application/vnd.{words[0]}.v{chance.randint(1, 9)}+json;q=0.{chance.randint(1, 9)}",
            str(chance.randint(0, 10**18)),
            f"{chance.randint(1, 60)}{chance.choice(['min', 'h', 'd', 'mo', 'y'])}",
            f"{words[0].title()}App/{chance.randint(1, 9)}.{chance.randint(0, 99)} (+https://www.example.com/{words[0]})",
            f"{words[0]}.{words[-1]}@example.com",
        ]
    )
