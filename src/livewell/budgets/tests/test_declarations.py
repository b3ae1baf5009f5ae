"""`[provider.x]` in a file: read as people write it, or refused with every problem at its line."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from livewell.budgets import (
    ENDPOINT_COLUMNS,
    KEY_COLUMNS,
    PROVIDER_COLUMNS,
    BudgetStore,
    EndpointDeclaration,
    KeyDeclaration,
    ProviderDeclaration,
    ProviderSection,
)
from livewell.budgets.declarations import ACCOUNT_COLUMNS, as_declared
from livewell.kernel import Database, Declarations, DeclarationsRefused, PlannedChange, read_declarations
from livewell.testing import effort

EVERYTHING = """
[provider.acme]
base_url = "https://acme.test"
key_file = "/run/key"
key_in = "query:apikey"
hosts = ["cdn.acme.test", "files.acme.test:8443"]
allow_private = false
description = "ACME"
state = "maintenance"
concurrent = 7
requests.per_hour = 1000
quota = { bytes = "1.5 TB", window = "7 days", use = 0.5, pace = "none", bucket = "2h" }

[provider.acme.endpoint."deep/quote"]
requests = { per_minute = 300, per_hour = "unlimited" }
tokens = { per_minute = 10, per_hour = 20 }
concurrent = "unlimited"
limiter = "smooth"
send_within = "500ms"
backpressure = { above = 0.5, delay = "0s" }
depth = "unlimited"
serial_keys = false
expected_bytes = "1 kB"
max_bytes = 2048
max_tokens = 5
retry_after = "30 seconds"
retry_after_max = "1h30m"
breaker = { failures = "off", window = "5 minutes", cooldown = "1s", cooldown_max = "1 minute", trials = 1 }
call_timeout = "3s"
state = "disabled"
description = ""

[provider.acme.key.k]
env = "K"
scope = "s"
enabled = false
requests.per_minute = 1
"""


def read(text: str) -> Declarations:
    return read_declarations(text.encode(), "livewell.toml", [ProviderSection()])


def refused(text: str) -> list[str]:
    with pytest.raises(DeclarationsRefused) as error:
        read(text)
    return [str(problem).removeprefix("livewell.toml:") for problem in error.value.problems]


def _leaves(model: type[BaseModel], prefix: str = "") -> set[str]:
    found: set[str] = set()
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= _leaves(inner, f"{prefix}{name}.")
        else:
            found.add(f"{prefix}{name}")
    return found


def test_every_field_has_a_column() -> None:
    """No field of the file is read and then forgotten, and none is sent that the file does not have."""
    assert _leaves(EndpointDeclaration) == set(ENDPOINT_COLUMNS)
    assert _leaves(KeyDeclaration) == {*KEY_COLUMNS, "env", "file"}
    provider = {*PROVIDER_COLUMNS, *ACCOUNT_COLUMNS, "key_env", "key_file", "endpoint", "key"}
    assert _leaves(ProviderDeclaration) == provider


async def test_every_column_can_be_declared(owner: Database) -> None:
    """Whatever a person may set of a provider, an endpoint or a key has a word in the file."""
    kept = {"name", "provider", "granted", "created_at", "updated_at"}
    tables = {"provider": PROVIDER_COLUMNS, "endpoint": ENDPOINT_COLUMNS, "api_key": KEY_COLUMNS}
    for table, columns in tables.items():
        thing = await owner.fetchval(
            f"select (livewell_private.describe_thing('', 'livewell_private.{table}', '', '{{}}')).defaults::text"
        )
        assert set(json.loads(thing)) - kept - {"source"} == set(columns.values()), table


async def test_everything_that_can_be_said_is_said_to_the_database(owner: Database) -> None:
    """Every field, as people write it, arrives in its column; what was not named is not sent."""
    declared = read(EVERYTHING).sections["provider"]
    sent = as_declared(declared)
    assert set(sent["endpoints"]) == {"acme", "acme/deep/quote"}
    assert sent["endpoints"]["acme"] == {"concurrent": 7, "requests_per_hour": 1000}
    assert set(sent["endpoints"]["acme/deep/quote"]) == set(ENDPOINT_COLUMNS.values())
    assert sent["providers"]["acme"]["quota_bytes"] == 1024**4 * 3 // 2
    store = BudgetStore(owner)
    await store.apply_providers(sent, plan_only=False, actor="tester")
    (endpoint,) = await store.list_endpoints(["acme/deep/quote"])
    assert (endpoint.send_within.total_seconds(), endpoint.retry_after_max.total_seconds()) == (0.5, 5400)
    assert (endpoint.requests_per_hour, endpoint.breaker_failures, endpoint.expected_bytes) == (None, None, 1024)
    (provider,) = await store.list_providers(["acme"])
    assert (provider.quota_window.days, provider.pace, provider.state) == (7, "none", "maintenance")
    assert (provider.key_in, provider.hosts) == ("query:apikey", ["cdn.acme.test", "files.acme.test:8443"])
    assert (provider.allow_private, endpoint.call_timeout.total_seconds()) == (False, 3)
    keys = {key.name: (key.scope, key.source, key.enabled) for key in await store.list_api_keys()}
    assert keys == {"default": ("default", "file:/run/key", True), "k": ("s", "env:K", False)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[provider]\nx = 1\n", "2: provider: x should be a table"),
        ("provider = 1\n", "1: provider should be a table"),
        ('["provider"."a b"]\n', "1: provider: a b should be 1 to 100 characters"),
        ('[provider.a]\nkey_env = "A-B"\n', "2: provider.a: key_env should be the name of an environment variable ["),
        ('[provider.a]\nbase_url = "acme"\n', "2: provider.a: base_url should be an http or https address ["),
        ('[provider.a.endpoint."x y"]\n', "1: provider.a.endpoint: x y should be 1 to 100 characters"),
        (
            "[provider.a]\nendpoint.x.concurrent = true\n",
            "2: provider.a.endpoint.x: concurrent should be a valid integer",
        ),
        ("[provider.a]\nconcurrent = [1]\n", "2: provider.a: concurrent should be a valid integer"),
        ('[provider.a]\nconcurrent = "10"\n', "2: provider.a: concurrent should be a valid integer"),
        ('[provider.a]\nkey_in = "cookie"\n', "2: provider.a: key_in should be bearer, query:NAME or header:NAME"),
        ('[provider.a]\ncall_timeout = "11m"\n', "2: provider.a: call_timeout should be less than"),
        ("[provider.a]\nsend_within = 5\n", "2: provider.a: send_within: 5 has no unit"),
        ('[provider.a]\nsend_within = "11s"\n', "2: provider.a: send_within should be less than"),
        ('[provider.a]\nquota.bytes = "20 apples"\n', "2: provider.a.quota: bytes: '20 apples' is not a size"),
        ('[provider.a]\nquota.bytes = "0.3 B"\n', "2: provider.a.quota: bytes: '0.3 B' is not a size"),
        ("[provider.a]\nquota.use = nan\n", "2: provider.a.quota: use should be"),
        ('[provider.a]\nlimiter = "smoth"\n', "2: provider.a: limiter should be 'strict' or 'smooth'"),
        ('[provider.a]\nkey_env = "A"\nkey_file = "b"\n', "1: provider.a: the key 'default' is given twice"),
        (
            '[provider.a]\nkey_env = "A"\n[provider.a.key.default]\nenv = "B"\n',
            "1: provider.a: the key 'default' is given",
        ),
        (
            "[provider.a]\nbreaker = { failurs = 1 }\n",
            '2: provider.a.breaker: unknown field "failurs" (did you mean "failures"?)',
        ),
        ('[provider.a.key.k]\nenv = "A"\nlimit = 1\n', '3: provider.a.key.k: unknown field "limit" (one of '),
        ("[provider.a\n", "1: expected ']'"),
        ("a = 1\na = 2\n", "2: cannot overwrite a value"),
        ("[type.x]\n", '1: unknown section "type" (one of provider)'),
    ],
)
def test_a_mistake_is_told_at_its_line(text: str, told: str) -> None:
    """One line per problem: where, which table, what is wrong, and what was probably meant."""
    problems = refused(text)
    assert len(problems) == 1, problems
    assert problems[0].startswith(told), problems


def test_a_key_in_the_wrong_place_is_not_repeated() -> None:
    """Who pastes a key where its variable's name belongs does not read it again in a log."""
    for line in ('key_env = "sk-live-1"', 'key.a.env = "sk-live-1"', 'key.a = "sk-live-1"', 'concurrent = "sk-live-1"'):
        assert all("sk-live" not in problem for problem in refused(f"[provider.a]\n{line}\n"))


def test_what_is_not_text_is_refused() -> None:
    """Bytes that are no UTF-8 and nesting without end are problems of the file, not of the program."""
    for content in (b"a = 1\nb = '\xff'\n", b"a = " + b"[" * 100_000):
        with pytest.raises(DeclarationsRefused):
            read_declarations(content, "livewell.toml", [ProviderSection()])


WORDS = [
    *("requests", "tokens", "per_minute", "per_hour", "concurrent", "limiter", "send_within", "quota", "bytes", "use"),
    *("endpoint", "key", "env", "breaker", "failures", "backpressure", "key_env", "state", "window", "x"),
]
VALUES = st.recursive(
    st.one_of(
        st.integers(-5, 10**25),
        st.floats(),
        st.booleans(),
        st.sampled_from(["unlimited", "off", "20 GB", "5 minutes", "active", "", "x"]),
        st.text("ab \\\"'é\n", max_size=4),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)),
    max_leaves=8,
)


def _toml(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case float():
            return repr(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


@given(st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=5))
def test_whatever_a_table_holds_it_is_read_or_refused(table: dict[str, Any]) -> None:
    """No document makes the reader fail in any other way, and every problem stands on a line of the file."""
    text = "[provider.a]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())
    try:
        read(text)
        lines = []
    except DeclarationsRefused as error:
        lines = [problem.line for problem in error.problems]
    assert all(1 <= line <= text.count("\n") for line in lines)


LIMITS = st.one_of(st.just("unlimited"), st.integers(1, 50))
ENDPOINTS = st.fixed_dictionaries(
    {},
    optional={
        "requests_per_minute": LIMITS,
        "tokens_per_hour": LIMITS,
        "concurrent": LIMITS,
        "limiter": st.sampled_from(["strict", "smooth"]),
        "retry_after": st.sampled_from(["PT30S", "60 seconds", "1 minute", "00:00:30"]),
        "max_bytes": st.integers(40_000, 100_000),
        "state": st.sampled_from(["active", "disabled", None]),
    },
)
PROVIDERS = st.fixed_dictionaries(
    {}, optional={"quota_bytes": st.sampled_from(["unlimited", 10**6, 10**9]), "quota_use": st.floats(0.01, 1)}
)
DECLARED = st.fixed_dictionaries(
    {
        "providers": st.fixed_dictionaries({"a": PROVIDERS}),
        "endpoints": st.dictionaries(st.sampled_from(["a", "a/x", "a/y"]), ENDPOINTS),
        "keys": st.dictionaries(st.sampled_from(["a@1", "a@2"]), st.just({"source": "env:K"})),
    }
)


async def _applied(store: BudgetStore, declared: dict[str, Any]) -> list[PlannedChange] | str:
    """The outcome of planning, which that of applying must be; and then of applying again."""
    outcomes: list[list[PlannedChange] | str] = []
    for plan_only in (True, False):
        try:
            outcomes.append(await store.apply_providers(declared, plan_only=plan_only, actor="tester"))
        except Exception as error:  # noqa: BLE001 - compared
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
    return outcomes[1]


@effort(40)
@given(declared=st.lists(DECLARED, min_size=1, max_size=4))
async def test_a_plan_is_what_is_applied(owner: Database, declared: list[dict[str, Any]]) -> None:
    """Whatever was applied before: the plan is what applying does, and applying again changes nothing."""
    store = BudgetStore(owner)
    for document in declared:
        outcome = await _applied(store, document)
        if isinstance(outcome, str):
            assert "[budgets.invalid]" in outcome
            continue
        again = await store.apply_providers(document, plan_only=False, actor="tester")
        assert {change.change for change in again} <= {"same"}
        rows = {endpoint.name: endpoint for endpoint in await store.list_endpoints()}
        for change in outcome:
            if change.thing == "endpoint" and change.field == "requests_per_minute":
                assert rows[change.name].requests_per_minute == change.new
