"""An issuer as a person declares it under `[access.issuer.NAME]` of `livewell.toml`."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, model_validator

from livewell.access.errors import InvalidIssuer, UnknownIssuerField
from livewell.access.store import AccessStore
from livewell.kernel import (
    Caller,
    Column,
    Connection,
    DeclaredTable,
    DurationFromZero,
    LivewellError,
    NotPermitted,
    PlannedChange,
    told_at,
)

_WORD, _THING = "access", "issuer"
_SOURCES = {
    "secret_env": ("secret", "env:"),
    "secret_file": ("secret", "file:"),
    "jwks_file": ("jwks", "file:"),
    "jwks_url": ("jwks", ""),
}


class IssuerDeclaration(DeclaredTable):
    """`[access.issuer.NAME]`: whose tokens count, and where what they are verified with is found."""

    issuer: str | None = None
    audience: str | None = None
    algorithm: Literal["HS256", "RS256", "ES256", "EdDSA"] | None = None
    secret_env: Annotated[str | None, Column(None)] = None
    secret_file: Annotated[str | None, Column(None)] = None
    jwks_file: Annotated[str | None, Column(None)] = None
    jwks_url: Annotated[str | None, Column(None)] = None
    tenant_claim: str | None = None
    role: str | None = None
    scopes_claim: str | None = None
    scopes: dict[str, Literal["service", "operator", "observer", "user"]] | None = Field(default=None)
    leeway: DurationFromZero | None = None
    enabled: bool | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "IssuerDeclaration":
        named = [field for field in _SOURCES if getattr(self, field) is not None]
        if len(named) > 1:
            raise ValueError(f"{' and '.join(named)}: an issuer is verified in one way")
        return self

    @property
    def source(self) -> str | None:
        """Where what its tokens are verified with is found, as the database keeps it."""
        for field, (_, scheme) in _SOURCES.items():
            said = getattr(self, field)
            if said is not None:
                return f"{scheme}{said}"
        return None

    def columns_written(self) -> dict[str, Any]:
        """What was written, by column; one source is named, and the other is none."""
        written = self.written()
        for field, (column, _) in _SOURCES.items():
            if getattr(self, field) is not None:
                return {**written, "secret": None, "jwks": None, column: self.source}
        return written


class AccessSection:
    """Issuers as `livewell apply` takes them."""

    word = _WORD
    model: Any = dict[str, IssuerDeclaration]
    by_name: TypeAdapter[Any] = TypeAdapter(dict[Literal["issuer"], dict[str, IssuerDeclaration]])
    unknown_field = UnknownIssuerField
    invalid_field = InvalidIssuer

    async def apply(
        self, connection: "Connection", declared: Mapping[str, Any], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        changes: list[PlannedChange] = []
        for name, table in declared.get(_THING, {}).items():
            put = {name: table.columns_written()}
            try:
                changes += await AccessStore(connection).apply_issuers(put, plan_only=plan_only, actor=actor)
            except NotPermitted as fact:
                raise InvalidIssuer(
                    "this login may not say whose tokens count",
                    fix="use a login that was granted livewell_owner: LIVEWELL_OWNER_URL names its address",
                ) from fact
            except LivewellError as fact:
                raise type(fact)(fact.message, fix=fact.fix, detail=name) from fact
        return changes

    async def undeclared(self, caller: "Caller | Connection", declared: Mapping[str, Any]) -> list[tuple[str, str]]:
        known = declared.get(_THING, {})
        return [(_THING, found.name) for found in await AccessStore(caller).list_issuers() if found.name not in known]

    def summary(self, change: PlannedChange) -> str:
        return f"{change.new['algorithm']} tokens of {change.new['issuer']}"

    def told_of(self, fact: LivewellError) -> list[tuple[tuple[str | int, ...], LivewellError]]:
        return told_at((_WORD, _THING, fact.detail) if fact.detail else None, fact)


def issuer_sources(declared: Mapping[str, Any]) -> Iterable[str]:
    """The files and variables that the issuers of a file name, which a process that runs with it may read."""
    sources = (table.source for table in declared.get(_THING, {}).values())
    return [source for source in sources if source is not None and not source.startswith("http")]
