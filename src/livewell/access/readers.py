"""Reads for viewers: one for each class and batch, in a transaction that is that class and nothing else.

Viewers of a type are told apart by their role and by the claims the type declares. The transaction that reads for them
is given exactly these, so that the database cannot tell two members of a class apart, and one read serves them all.

It is on a login of its own, which inherits nothing and is a member of the viewers' roles only: users' code runs in it,
policies and functions, and whatever role that code takes, it is a viewer's. It is read only, and what it did to the
connection is undone with it; no statement of the connection outlives its call.
"""

import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import asyncpg

from livewell.access.errors import NoReader, NotReadable
from livewell.access.store import AccessStore, ViewerStore, become
from livewell.access.types import ANON_ROLE, USER_ROLE, Principal, ReadClass, ReadItem, TypeReading, canonical
from livewell.kernel import Connection, Database, LivewellError

READER_URL = "LIVEWELL_READER_URL"
# About the token, not about whom it is of.
OF_THE_TOKEN = frozenset({"iat", "exp", "nbf", "jti"})
_HELD_FOR = timedelta(seconds=1)
_ONE_FOR_ALL = {"public", "signed_in"}
_DIGITS = 12
_HIDDEN = ReadItem(value=None, visible=False)
_BEGIN = "begin isolation level repeatable read read only"


class _Viewer(NamedTuple):
    """A transaction that is a class, over the connection it runs on."""

    connection: Connection
    store: ViewerStore


class Readers:
    """Reads for viewers over a login of their own; what is no viewer's business is asked over the service's."""

    def __init__(self, database: Database, viewers: Database, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = AccessStore(database)
        self._viewers = viewers
        self._clock = clock
        self._types: dict[str, tuple[float, TypeReading]] = {}
        self._forgotten = 0

    @classmethod
    @asynccontextmanager
    async def open(cls, database: Database, url: str | None) -> "AsyncIterator[Readers]":
        """Readers on a login at an address, which has no more rights than a viewer; closed at the end."""
        if url is None:
            raise NoReader(
                "there is no login to read with for viewers",
                fix=f"livewell access login NAME --as reader, and its address in {READER_URL}",
            )
        # No statement is kept on the connection: users' code that runs in it could put its own in its place.
        options = replace(database.options, url=url, direct_url=None, pooled=True, application_name="livewell-reader")
        async with await Database.open(options) as viewers:
            await _require_viewer(viewers)
            yield cls(database, viewers)

    def forget(self, data_type: str | None = None) -> None:
        """Ask anew how a type, or every type, is read: something about it has changed."""
        self._forgotten += 1
        if data_type is None:
            self._types.clear()
        else:
            self._types.pop(data_type, None)

    async def class_of(self, principal: Principal, data_type: str) -> ReadClass:
        """The class by which this principal sees a type; raises `NotReadable`, `UnknownType`."""
        return read_class(principal, data_type, await self._reading(data_type))

    async def read(self, read_class: ReadClass, data_type: str, keys: Sequence[str]) -> dict[str, ReadItem]:
        """What a class sees of keys of a type."""
        found: dict[str, ReadItem] = {}
        reading = await self._reading(data_type)
        for batch in _batches(keys, reading.keys_at_once):
            if reading.rule == "rls":
                found |= await self._read_rows(read_class, data_type, batch, reading)
                continue
            async with self._viewer(read_class) as viewer:
                found |= _items(await viewer.store.read_values(data_type, batch))
        return found

    async def may_watch(self, read_class: ReadClass, data_type: str, keys: Sequence[str]) -> list[bool]:
        """Which keys a class may look at, by position: what it may see, and that of which there is nothing yet."""
        reading = await self._reading(data_type)
        if reading.rule in _ONE_FOR_ALL:
            # Whoever has the class may: it has no keys of its own.
            return [True] * len(keys)
        answers: list[bool] = []
        for batch in _batches(keys, reading.keys_at_once):
            if reading.rule == "rls":
                rows = await self.read(read_class, data_type, batch)
                answers += [rows[key].visible for key in batch]
                continue
            async with self._viewer(read_class) as viewer:
                answers += await viewer.store.may_watch(data_type, batch)
        return answers

    async def _read_rows(
        self, read_class: ReadClass, data_type: str, keys: Sequence[str], reading: TypeReading
    ) -> dict[str, ReadItem]:
        """The rows that row-level security lets the viewer's own role see; a key without any row hides nothing."""
        found = await self._seen(read_class, data_type, keys, reading)
        if missing := [key for key in keys if key not in found]:
            stored = await self._store.stored_keys(data_type, missing)
            # What was stored just after the first look is seen by the second.
            again = await self._seen(read_class, data_type, stored, reading) if stored else {}
            hidden = dict.fromkeys((key for key in stored if key not in again), _HIDDEN)
            found |= {key: ReadItem(value=None, visible=True) for key in missing} | hidden | again
        return found

    async def _seen(
        self, read_class: ReadClass, data_type: str, keys: Sequence[str], reading: TypeReading
    ) -> dict[str, ReadItem]:
        """The rows a class sees. A key that the column cannot hold has none: keys are halved until it is alone."""
        try:
            async with self._viewer(read_class) as viewer:
                statement = await viewer.store.reading_statement(data_type)
                if statement is None:
                    self.forget(data_type)
                    return _items(await viewer.store.read_values(data_type, keys))
                rows = await viewer.connection.fetch(statement, keys, reading.rows_per_key)
                return {row["key"]: ReadItem(row["value"], visible=True) for row in rows}
        except asyncpg.DataError:
            if len(keys) == 1:
                return {}
        half = len(keys) // 2
        first = await self._seen(read_class, data_type, keys[:half], reading)
        return first | await self._seen(read_class, data_type, keys[half:], reading)

    async def _reading(self, data_type: str) -> TypeReading:
        held = self._types.get(data_type)
        if held is not None and self._clock() - held[0] < _HELD_FOR.total_seconds():
            return held[1]
        asked_at, forgotten = self._clock(), self._forgotten
        reading = await self._store.type_reading(data_type)
        if forgotten == self._forgotten:
            self._types[data_type] = (asked_at, reading)
        return reading

    @asynccontextmanager
    async def _viewer(self, read_class: ReadClass) -> AsyncIterator[_Viewer]:
        """A transaction that is this class; nothing of it stays, neither rows nor what was set."""
        async with self._viewers.connection() as connection:
            try:
                is_class = become(read_class.role.encode(), read_class.claims.encode())
                # One round trip: it begins, within its limits, as the class.
                await connection.execute(f"{_BEGIN}; {self._viewers.options.call_limits}; {is_class}")
                yield _Viewer(connection, ViewerStore(connection))
            finally:
                await _undo(connection)


async def _undo(connection: Connection) -> None:
    """Roll back. A connection of which that is not known is cut: nobody reads on in another's transaction."""
    try:
        await connection.execute("rollback")
    except LivewellError:
        connection.terminate()
    except BaseException:
        connection.terminate()
        raise


def read_class(principal: Principal, data_type: str, reading: TypeReading) -> ReadClass:
    """The class by which a principal sees a type that is read so."""
    if reading.rule == "nobody" or (reading.rule == "signed_in" and principal.user is None):
        raise NotReadable(f"you may not read type {data_type}", fix="its owner says who may: read in livewell.toml")
    role = _role(principal, reading.rule)
    claims = canonical(
        {
            name: said
            for name, said in principal.claims.items()
            if (name not in OF_THE_TOKEN if reading.claims is None else name in reading.claims)
        }
    )
    of = json.dumps([role, claims, data_type, reading.rule, reading.revision.isoformat()])
    return ReadClass(role, claims, hashlib.sha256(of.encode()).hexdigest()[:_DIGITS])


def _role(principal: Principal, rule: str) -> str:
    """What the read runs as: where the rule asks only for claims, one role for all who have them."""
    match rule:
        case "public" | "claim":
            return ANON_ROLE
        case "signed_in":
            return USER_ROLE
    return principal.role


def _items(rows: Iterable[tuple[str, str | None, bool]]) -> dict[str, ReadItem]:
    return {key: ReadItem(value, visible=visible) for key, value, visible in rows}


def _batches(keys: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(keys), size):
        yield list(keys[start : start + size])


async def _require_viewer(viewers: Database) -> None:
    """Refuse a login by which users' code would have more than a viewer has."""
    found = await ViewerStore(viewers).look_at_reader()
    wrong = {
        "mighty": "may do what no viewer may",
        "inherits": "inherits the rights of its roles",
        "more": "is a member of a role that is no viewer's",
    }
    said = [words for field, words in wrong.items() if found[field]]
    if not found["able"]:
        said.append("is no member of livewell_user and livewell_anon")
    if said:
        raise NoReader(
            f"login {found['login']} cannot read for viewers: it {', and '.join(said)}",
            fix="livewell access login NAME --as reader makes one",
        )
