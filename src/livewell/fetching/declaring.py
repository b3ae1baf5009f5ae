"""Types declared: written, checked as `livewell types check` checks them, and refused with all that is wrong."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from livewell.fetching.checking import check_fetching
from livewell.fetching.fetcher import Fetcher
from livewell.kernel import Caller, Connection, LivewellError, PlannedChange, shown_interval, told_at
from livewell.registry import Finding, InvalidType, RegistryStore, TypeTables, type_fields

# Problems that keep a type from being written; all others are found in the written type.
_UNWRITABLE = {"invalid", "no_endpoint"}
Scope = Literal["changed", "all"]


async def declare_types(
    connection: "Connection",
    wanted: Mapping[str, Mapping[str, Any]],
    *,
    actor: str,
    scope: Scope = "changed",
    fetchers: Mapping[str, type[Fetcher[Any]]] | None = None,
) -> list[PlannedChange]:
    """Make types as declared, in the caller's transaction. `InvalidType` has everything that is wrong with them.

    What stays as it is was checked when it was written; the scope `all` checks it again.
    """
    store = RegistryStore(connection)
    asked = await store.check_declared(wanted)
    unwritable = {
        finding.data_type for finding in asked if finding.problem in _UNWRITABLE and finding.severity == "error"
    }
    changes = await store.change_types(
        {name: dict(fields) for name, fields in wanted.items() if name not in unwritable}, actor=actor
    )
    judged = {change.name for change in changes if scope == "all" or change.change != "same"}
    found = [*asked, *await check_fetching(connection, sorted(judged), fetchers=fetchers)]
    wrong = _errors(finding for finding in found if finding.data_type in judged | unwritable)
    if wrong:
        raise InvalidType.because(wrong)
    return changes


class TypeSection(TypeTables):
    """Data types as `livewell apply` takes them."""

    def __init__(self, scope: Scope = "changed") -> None:
        self._scope = scope

    async def apply(
        self, connection: "Connection", declared: Mapping[str, Any], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        """Make types as declared. A plan writes them too, to check them, and is rolled back."""
        wanted = {name: type_fields(declaration) for name, declaration in declared.items()}
        attempt = connection.transaction()
        await attempt.start()
        try:
            changes = await declare_types(connection, wanted, actor=actor, scope=self._scope)
        except BaseException:
            await attempt.rollback()
            raise
        await (attempt.rollback() if plan_only else attempt.commit())
        return changes

    async def undeclared(self, caller: "Caller | Connection", declared: Mapping[str, Any]) -> list[tuple[str, str]]:
        return [
            ("type", data_type.name)
            for data_type in await RegistryStore(caller).list_types()
            if data_type.name not in declared
        ]

    def summary(self, change: PlannedChange) -> str:
        new = change.new
        gate = "" if new["gate"] == "always" else f", gate {new['gate']}"
        read = "" if new["read_rule"] == "nobody" else f", read by {new['read_rule']}"
        off = "" if new["enabled"] else ", disabled"
        ttl = shown_interval(new["ttl"])
        return f"{new['endpoint']}, ttl {ttl}, {new['table_name'] or 'record table'}{gate}{read}{off}"

    def told_of(self, fact: LivewellError) -> list[tuple[tuple[str | int, ...], LivewellError]]:
        findings: Sequence[Finding] = getattr(fact, "findings", ())
        if findings:
            return [
                (("type", finding.data_type), InvalidType(finding.message, fix=finding.fix or None))
                for finding in findings
            ]
        thing, _, name = (fact.detail or "").partition(" ")
        return told_at(("type", name) if thing == "type" else None, fact)


def _errors(found: Iterable[Finding]) -> list[Finding]:
    """Errors, each told once: database and fetcher may find the same."""
    return list(
        {(finding.data_type, finding.message): finding for finding in found if finding.severity == "error"}.values()
    )
