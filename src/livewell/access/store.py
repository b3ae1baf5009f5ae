"""Access as Python calls it: one method per named query, no decisions."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pydantic_core import from_json, to_json

from livewell.access.types import AccessKey, AdmittedKey, Algorithm, Issuer, Scope, Share, Subject, TypeReading
from livewell.kernel import Caller, Connection, PlannedChange, Queries, planned_changes

QUERIES = Queries.of("livewell.access")
# Told what of rights changed, as JSON, whenever something tells.
RIGHTS_CHANNEL = "livewell_rights"


class AccessStore:
    """Calls access over a pool, a line, or the caller's own connection."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def list_issuers(self) -> list[Issuer]:
        rows = await self._caller.fetch(QUERIES["list_issuers"])
        return [
            Issuer(
                **{
                    **row,
                    "algorithm": Algorithm(row["algorithm"]),
                    "scopes": {said: Scope(scope) for said, scope in from_json(row["scopes"]).items()},
                }
            )
            for row in rows
        ]

    async def apply_issuers(
        self, declared: Mapping[str, Mapping[str, Any]], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        rows = await self._caller.fetch(QUERIES["apply_issuers"], to_json(declared).decode(), plan_only, actor)
        return planned_changes(rows)

    async def add_access_key(
        self,
        key_id: str,
        name: str,
        hashed: bytes,
        scopes: Sequence[Scope],
        *,
        user: str | None,
        tenant: str | None,
        expires_at: datetime | None,
        reason: str | None,
        actor: str,
    ) -> None:
        await self._caller.fetchval(
            QUERIES["add_access_key"], key_id, name, hashed, list(scopes), user, tenant, expires_at, reason, actor
        )

    async def revoke_access_key(self, key_id: str, *, reason: str | None, actor: str) -> bool:
        return bool(await self._caller.fetchval(QUERIES["revoke_access_key"], key_id, reason, actor))

    async def list_access_keys(self) -> list[AccessKey]:
        return [AccessKey(**row) for row in await self._caller.fetch(QUERIES["list_access_keys"])]

    async def admit_access_key(self, hashed: bytes) -> AdmittedKey:
        (row,) = await self._caller.fetch(QUERIES["admit_access_key"], hashed)
        return AdmittedKey(*row)

    async def rights_changed(self, *, user: str | None = None, data_type: str | None = None) -> None:
        await self._caller.fetchval(QUERIES["rights_changed"], user, data_type)

    async def create_subject(self, subject: str, kind: str, *, owner: str, tenant: str | None = None) -> None:
        await self._caller.fetchval(QUERIES["create_subject"], subject, kind, owner, tenant)

    async def share(self, subject: str, user: str, right: str = "read") -> bool:
        return bool(await self._caller.fetchval(QUERIES["share"], subject, user, right))

    async def unshare(self, subject: str, user: str) -> bool:
        return bool(await self._caller.fetchval(QUERIES["unshare"], subject, user))

    async def remove_subject(self, subject: str) -> None:
        await self._caller.fetchval(QUERIES["remove_subject"], subject)

    async def list_subjects(self, *, owner: str | None = None, limit: int = 50) -> list[Subject]:
        return [Subject(**row) for row in await self._caller.fetch(QUERIES["list_subjects"], owner, limit)]

    async def list_shares(self, subject: str) -> list[Share]:
        return [Share(**row) for row in await self._caller.fetch(QUERIES["list_shares"], subject)]

    async def recheck_interval(self) -> timedelta:
        interval: timedelta = await self._caller.fetchval(QUERIES["recheck_interval"])
        return interval

    async def type_reading(self, data_type: str) -> TypeReading:
        (row,) = await self._caller.fetch(QUERIES["type_reading"], data_type)
        return TypeReading(**row)

    async def stored_keys(self, data_type: str, keys: Sequence[str]) -> list[str]:
        return list(await self._caller.fetchval(QUERIES["stored_keys"], data_type, keys))


def become(role: bytes, claims: bytes) -> str:
    """What makes the rest of a transaction this role with these claims: their bytes as digits, which end no literal."""
    return QUERIES["become"].format(role=role.hex(), claims=claims.hex())


class ViewerStore:
    """Reads over a connection of the viewers' login, inside a transaction that is a class of them."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def read_values(self, data_type: str, keys: Sequence[str]) -> list[tuple[str, str | None, bool]]:
        return [tuple(row) for row in await self._caller.fetch(QUERIES["read_values"], data_type, keys)]

    async def may_watch(self, data_type: str, keys: Sequence[str]) -> list[bool]:
        return list(await self._caller.fetchval(QUERIES["may_watch"], data_type, keys))

    async def reading_statement(self, data_type: str) -> str | None:
        statement: str | None = await self._caller.fetchval(QUERIES["reading_statement"], data_type)
        return statement

    async def look_at_reader(self) -> dict[str, Any]:
        (row,) = await self._caller.fetch(QUERIES["look_at_reader"])
        return dict(row)
