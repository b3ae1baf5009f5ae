"""`[provider.x]`, `[provider.x.endpoint.y]` and `[provider.x.key.z]` of `livewell.toml`.

What a table names is set, what it does not name stays. Limits in `[provider.x]` itself are those of the account: they
become the endpoint that bears the provider's name, which all endpoints of the provider share.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    model_validator,
)

from livewell.budgets.errors import InvalidField, OwnersChoice, UnknownField
from livewell.budgets.store import BudgetStore
from livewell.kernel import (
    HOW_TO_WRITE,
    Caller,
    Connection,
    LivewellError,
    PlannedChange,
    parse_duration,
    parse_size,
    shown_interval,
    shown_share,
    shown_size,
    told_at,
)

DEFAULT_KEY = "default"
_LARGEST = 2**31 - 1


def _unlimited(value: object) -> object:
    return None if isinstance(value, str) and value in {"unlimited", "off"} else value


def _size(value: object) -> object:
    return parse_size(value) if isinstance(value, str) else value


def _length(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError(f"{value} has no unit; {HOW_TO_WRITE}")  # noqa: TRY004 - pydantic tells a ValueError
    return parse_duration(value) if isinstance(value, str) else value


def _written(pattern: str, words: str) -> AfterValidator:
    """Text of a pattern, which is told in words."""

    def check(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(f"should be {words}")
        return text

    return AfterValidator(check)


def _quota(value: object) -> object:
    return None if value == "unlimited" else _size(value)


Limit = Annotated[int | None, Field(gt=0, le=_LARGEST), BeforeValidator(_unlimited)]
Size = Annotated[int, Field(gt=0, lt=2**63), BeforeValidator(_size)]
QuotaSize = Annotated[int | None, Field(gt=0, lt=2**63), BeforeValidator(_quota)]
Length = Annotated[timedelta, Field(gt=timedelta(0)), BeforeValidator(_length)]
LengthOrNone = Annotated[timedelta, Field(ge=timedelta(0)), BeforeValidator(_length)]
State = Literal["active", "disabled", "maintenance"]
Name = Annotated[str, _written(r"[^\s/@]{1,100}", "1 to 100 characters without space, / and @")]
EndpointName = Annotated[str, _written(r"[^\s@]{1,100}", "1 to 100 characters without space and @")]
Variable = Annotated[str, _written(r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable")]
File = Annotated[str, _written(r"[^\n\0]+", "the path of a file")]
Address = Annotated[str, _written(r"https?://\S+", "an http or https address")]
Host = Annotated[str, _written(r"[A-Za-z0-9._-]+(:[0-9]{1,5})?", "the name of a host, with a port where it needs one")]
KeyIn = Annotated[str, _written(r"bearer|(query|header):[A-Za-z0-9._-]{1,100}", "bearer, query:NAME or header:NAME")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Rates(_Table):
    """How many, per minute and hour."""

    per_minute: Limit = None
    per_hour: Limit = None


class Backpressure(_Table):
    """From which share of the depth on new jobs are delayed, and for how long."""

    above: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.8
    delay: LengthOrNone = timedelta(seconds=5)


class Breaker(_Table):
    """After how many failures in which time nothing is sent, and how it is tried again."""

    failures: Limit = None
    window: Length = timedelta(minutes=10)
    cooldown: Length = timedelta(minutes=1)
    cooldown_max: Length = timedelta(minutes=30)
    trials: Annotated[int, Field(gt=0, le=_LARGEST)] = 3


class Quota(_Table):
    """How many bytes in which time, which share of them is used, and how evenly."""

    bytes: QuotaSize = None
    window: Length = timedelta(days=30)
    use: Annotated[float, Field(gt=0, le=1)] = 0.95
    pace: Literal["even", "none"] = "even"
    bucket: Length = timedelta(hours=1)


class Limits(_Table):
    """What may be sent."""

    requests: Rates = Rates()
    tokens: Rates = Rates()
    concurrent: Limit = None


class Calls(Limits):
    """What may be sent, and how calls are treated."""

    limiter: Literal["strict", "smooth"] = "strict"
    send_within: Annotated[Length, Field(le=timedelta(seconds=10))] = timedelta(seconds=2)
    backpressure: Backpressure = Backpressure()
    depth: Limit = None
    serial_keys: bool = True
    expected_bytes: Size = 50_000
    max_bytes: Size = 10_485_760
    max_tokens: Limit = None
    retry_after: Length = timedelta(minutes=1)
    retry_after_max: Length = timedelta(hours=1)
    breaker: Breaker = Breaker()
    call_timeout: Annotated[Length, Field(le=timedelta(minutes=10))] = timedelta(seconds=10)


class EndpointDeclaration(Calls):
    """`[provider.x.endpoint.y]`."""

    state: State = "active"
    description: str = ""


class KeyDeclaration(Limits):
    """`[provider.x.key.z]`: where a key is found, and what it allows."""

    env: Variable | None = None
    file: File | None = None
    scope: Name | None = None
    enabled: bool = True

    @model_validator(mode="after")
    def _is_found_in_one_place(self) -> Self:
        if (self.env is None) == (self.file is None):
            raise ValueError("a key is found in one place: name env or file")
        return self


class ProviderDeclaration(Calls):
    """`[provider.x]`: the provider, and its account's limits."""

    state: State = "active"
    description: str = ""
    base_url: Address | None = None
    key_env: Variable | None = None
    key_file: File | None = None
    key_in: KeyIn | None = None
    hosts: list[Host] = []
    allow_private: bool = False
    quota: Quota = Quota()
    policy: Literal["viewers", "value"] | None = None
    endpoint: dict[EndpointName, EndpointDeclaration] = {}
    key: dict[Name, KeyDeclaration] = {}

    @model_validator(mode="after")
    def _has_one_default_key(self) -> Self:
        given = [self.key_env, self.key_file, self.key.get(DEFAULT_KEY)]
        if sum(one is not None for one in given) > 1:
            raise ValueError(f"the key {DEFAULT_KEY!r} is given twice: name key_env, key_file or [key.{DEFAULT_KEY}]")
        return self


_LIMIT_COLUMNS = {
    "requests.per_minute": "requests_per_minute",
    "requests.per_hour": "requests_per_hour",
    "tokens.per_minute": "tokens_per_minute",
    "tokens.per_hour": "tokens_per_hour",
    "concurrent": "concurrent",
}
PROVIDER_COLUMNS = {
    "state": "state",
    "description": "description",
    "base_url": "base_url",
    "quota.bytes": "quota_bytes",
    "quota.window": "quota_window",
    "quota.use": "quota_use",
    "quota.pace": "pace",
    "quota.bucket": "pace_bucket",
    "policy": "policy",
    "hosts": "hosts",
    "key_in": "key_in",
    "allow_private": "allow_private",
}
ACCOUNT_COLUMNS = {
    **_LIMIT_COLUMNS,
    "limiter": "limiter",
    "send_within": "send_within",
    "backpressure.above": "backpressure_share",
    "backpressure.delay": "backpressure_delay",
    "depth": "depth_limit",
    "serial_keys": "serial_keys",
    "expected_bytes": "expected_bytes",
    "max_bytes": "max_bytes",
    "max_tokens": "max_tokens",
    "retry_after": "retry_after",
    "retry_after_max": "retry_after_max",
    "breaker.failures": "breaker_failures",
    "breaker.window": "breaker_window",
    "breaker.cooldown": "breaker_cooldown",
    "breaker.cooldown_max": "breaker_cooldown_max",
    "breaker.trials": "breaker_trials",
    "call_timeout": "call_timeout",
}
ENDPOINT_COLUMNS = {"state": "state", "description": "description", **ACCOUNT_COLUMNS}
KEY_COLUMNS = {"scope": "scope", "enabled": "enabled", **_LIMIT_COLUMNS}


class ProviderSection:
    """Providers, endpoints and keys as `livewell apply` takes them."""

    word = "provider"
    model = ProviderDeclaration
    by_name: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[Name, ProviderDeclaration])
    unknown_field = UnknownField
    invalid_field = InvalidField

    async def apply(
        self, connection: "Connection", declared: Mapping[str, Any], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        return await BudgetStore(connection).apply_providers(as_declared(declared), plan_only=plan_only, actor=actor)

    async def undeclared(self, caller: "Caller | Connection", declared: Mapping[str, Any]) -> list[tuple[str, str]]:
        store, named = BudgetStore(caller), as_declared(declared)
        there = {
            "provider": [one.name for one in await store.list_providers()],
            "endpoint": [one.name for one in await store.list_endpoints()],
            "key": [f"{one.provider}@{one.name}" for one in await store.list_api_keys()],
        }
        return [(thing, name) for thing, names in there.items() for name in names if name not in named[f"{thing}s"]]

    def summary(self, change: PlannedChange) -> str:
        match change.thing:
            case "provider":
                return _quota_summary(change.new)
            case "endpoint":
                return _limits_summary(change.new)
            case _:
                return f"from {change.new['source']}"

    def told_of(self, fact: LivewellError) -> list[tuple[tuple[str | int, ...], LivewellError]]:
        # Whose login it is has no line in a file.
        return [] if isinstance(fact, OwnersChoice) else told_at(self._place_of(fact), fact)

    def _place_of(self, fact: LivewellError) -> tuple[str | int, ...] | None:
        """`endpoint fmp/quote` stands in `[provider.fmp.endpoint.quote]`, an account's limits in `[provider.fmp]`."""
        thing, _, name = (fact.detail or "").partition(" ")
        match thing:
            case "provider":
                return ("provider", name)
            case "endpoint":
                provider, slash, endpoint = name.partition("/")
                return ("provider", provider, "endpoint", endpoint) if slash else ("provider", provider)
            case "key":
                provider, _, key = name.partition("@")
                return ("provider", provider, "key", key)
            case _:
                return None


def as_declared(providers: Mapping[str, ProviderDeclaration]) -> dict[str, dict[str, dict[str, Any]]]:
    """Declarations as `livewell.apply_providers` takes them: only what was named."""
    things: dict[str, dict[str, dict[str, Any]]] = {"providers": {}, "endpoints": {}, "keys": {}}
    for name, provider in providers.items():
        things["providers"][name] = _columns(provider, PROVIDER_COLUMNS)
        if account := _columns(provider, ACCOUNT_COLUMNS):
            things["endpoints"][name] = account
        for endpoint, declared in provider.endpoint.items():
            things["endpoints"][f"{name}/{endpoint}"] = _columns(declared, ENDPOINT_COLUMNS)
        for key, content in _keys(provider):
            things["keys"][f"{name}@{key}"] = content
    return things


def _keys(provider: ProviderDeclaration) -> Iterator[tuple[str, dict[str, Any]]]:
    if provider.key_env is not None or provider.key_file is not None:
        yield DEFAULT_KEY, {"source": _source(provider.key_env, provider.key_file)}
    for name, key in provider.key.items():
        yield name, {"source": _source(key.env, key.file), **_columns(key, KEY_COLUMNS)}


def _source(env: str | None, file: str | None) -> str:
    return f"file:{file}" if env is None else f"env:{env}"


def key_sources_of(providers: Mapping[str, ProviderDeclaration]) -> list[str]:
    """Where the keys of a file are: what a process that runs with this file may read."""
    return [key["source"] for key in as_declared(providers)["keys"].values()]


def _columns(table: BaseModel, columns: Mapping[str, str]) -> dict[str, Any]:
    named = dict(_named(table))
    return {column: named[field] for field, column in columns.items() if field in named}


def _named(table: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The fields that were written, dotted; a limit that was taken away is "unlimited"."""
    for field in table.model_fields_set:
        value = getattr(table, field)
        if isinstance(value, BaseModel):
            yield from _named(value, f"{prefix}{field}.")
        elif not isinstance(value, dict):
            yield f"{prefix}{field}", "unlimited" if value is None else value


def _quota_summary(provider: Mapping[str, Any]) -> str:
    if provider["quota_bytes"] is None:
        return "no quota"
    size, window = shown_size(provider["quota_bytes"]), shown_interval(provider["quota_window"])
    return f"{size} in {window}, {shown_share(provider['quota_use'])} of it used"


def _limits_summary(endpoint: Mapping[str, Any]) -> str:
    said = [
        f"{endpoint[field]:,}{unit}"
        for field, unit in (
            ("requests_per_minute", "/min"),
            ("requests_per_hour", "/h"),
            ("tokens_per_minute", " tokens/min"),
            ("tokens_per_hour", " tokens/h"),
            ("concurrent", " at once"),
        )
        if endpoint[field] is not None
    ]
    return ", ".join(said) or "no limits"
