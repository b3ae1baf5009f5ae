"""`[provider.x]`, `[provider.x.endpoint.y]` and `[provider.x.key.z]` of `livewell.toml`.

What a table names is set, what it does not name stays. Limits in `[provider.x]` itself are those of the account: they
become the endpoint that bears the provider's name, which all endpoints of the provider share.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from livewell.budgets.errors import InvalidField, OwnersChoice, UnknownField
from livewell.budgets.store import BudgetStore
from livewell.kernel import (
    Caller,
    Column,
    Connection,
    DeclaredTable,
    DurationFromZero,
    FieldGroup,
    Limit,
    LivewellError,
    PlannedChange,
    Positive,
    PositiveDuration,
    Size,
    SizeLimit,
    shown_interval,
    shown_share,
    shown_size,
    told_at,
    written_as,
)

DEFAULT_KEY = "default"

State = Literal["active", "disabled", "maintenance"]
Name = Annotated[str, written_as(r"[^\s/@]{1,100}", "1 to 100 characters without space, / and @")]
EndpointName = Annotated[str, written_as(r"[^\s@]{1,100}", "1 to 100 characters without space and @")]
Variable = Annotated[str, written_as(r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable")]
File = Annotated[str, written_as(r"[^\n\0]+", "the path of a file")]
Address = Annotated[str, written_as(r"https?://\S+", "an http or https address")]
Host = Annotated[
    str, written_as(r"[A-Za-z0-9._-]+(:[0-9]{1,5})?", "the name of a host, with a port where it needs one")
]
KeyIn = Annotated[str, written_as(r"bearer|(query|header):[A-Za-z0-9._-]{1,100}", "bearer, query:NAME or header:NAME")]


class Rates(FieldGroup):
    """How many, per minute and hour."""

    per_minute: Limit = None
    per_hour: Limit = None


class Backpressure(FieldGroup):
    """From which share of the depth on new jobs are delayed, and for how long."""

    above: Annotated[float | None, Field(gt=0, allow_inf_nan=False), Column("backpressure_share")] = None
    delay: DurationFromZero | None = None


class Breaker(FieldGroup):
    """After how many failures in which time nothing is sent, and how it is tried again."""

    failures: Limit = None
    window: PositiveDuration | None = None
    cooldown: PositiveDuration | None = None
    cooldown_max: PositiveDuration | None = None
    trials: Positive | None = None


class Quota(FieldGroup):
    """How many bytes in which time, which share of them is used, and how evenly."""

    bytes: SizeLimit = None
    window: PositiveDuration | None = None
    use: Annotated[float | None, Field(gt=0, le=1)] = None
    pace: Annotated[Literal["even", "none"] | None, Column("pace")] = None
    bucket: Annotated[PositiveDuration | None, Column("pace_bucket")] = None


class Limits(DeclaredTable):
    """What may be sent."""

    requests: Rates = Rates()
    tokens: Rates = Rates()
    concurrent: Limit = None


class Calls(Limits):
    """What may be sent, and how calls are treated."""

    limiter: Literal["strict", "smooth"] | None = None
    send_within: Annotated[PositiveDuration, Field(le=timedelta(seconds=10))] | None = None
    backpressure: Backpressure = Backpressure()
    depth: Annotated[Limit, Column("depth_limit")] = None
    serial_keys: bool | None = None
    expected_bytes: Size | None = None
    max_bytes: Size | None = None
    max_tokens: Limit = None
    retry_after: PositiveDuration | None = None
    retry_after_max: PositiveDuration | None = None
    breaker: Breaker = Breaker()
    call_timeout: Annotated[PositiveDuration, Field(le=timedelta(minutes=10))] | None = None


class EndpointDeclaration(Calls):
    """`[provider.x.endpoint.y]`."""

    state: State | None = None
    description: str | None = None


class KeyDeclaration(Limits):
    """`[provider.x.key.z]`: where a key is found, and what it allows."""

    env: Annotated[Variable | None, Column(None)] = None
    file: Annotated[File | None, Column(None)] = None
    scope: Name | None = None
    enabled: bool | None = None

    @model_validator(mode="after")
    def _is_found_in_one_place(self) -> Self:
        if (self.env is None) == (self.file is None):
            raise ValueError("a key is found in one place: name env or file")
        return self


class ProviderDeclaration(Calls):
    """`[provider.x]`: the provider, and its account's limits."""

    state: State | None = None
    description: str | None = None
    base_url: Address | None = None
    key_env: Annotated[Variable | None, Column(None)] = None
    key_file: Annotated[File | None, Column(None)] = None
    key_in: KeyIn | None = None
    hosts: list[Host] | None = None
    allow_private: bool | None = None
    quota: Quota = Quota()
    policy: Literal["viewers", "value"] | None = None
    endpoint: Annotated[dict[EndpointName, EndpointDeclaration], Column(None)] = Field(default={})
    key: Annotated[dict[Name, KeyDeclaration], Column(None)] = Field(default={})

    @model_validator(mode="after")
    def _has_one_default_key(self) -> Self:
        given = [self.key_env, self.key_file, self.key.get(DEFAULT_KEY)]
        if sum(place is not None for place in given) > 1:
            raise ValueError(f"the key {DEFAULT_KEY!r} is given twice: name key_env, key_file or [key.{DEFAULT_KEY}]")
        return self


ACCOUNT_COLUMNS = Calls.columns()
ENDPOINT_COLUMNS = EndpointDeclaration.columns()
KEY_COLUMNS = KeyDeclaration.columns()
PROVIDER_COLUMNS = {
    field: column for field, column in ProviderDeclaration.columns().items() if field not in ACCOUNT_COLUMNS
}


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
            "provider": [provider.name for provider in await store.list_providers()],
            "endpoint": [endpoint.name for endpoint in await store.list_endpoints()],
            "key": [f"{key.provider}@{key.name}" for key in await store.list_api_keys()],
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


def _columns(table: DeclaredTable, columns: Mapping[str, str]) -> dict[str, Any]:
    """What was written, of these columns; a limit that was taken away is "unlimited"."""
    kept = set(columns.values())
    return {
        column: "unlimited" if value is None else value for column, value in table.written().items() if column in kept
    }


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
