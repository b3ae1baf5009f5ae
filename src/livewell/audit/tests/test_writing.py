"""Writing entries and finding them again."""

import math
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from livewell.audit import AuditStore, EntryFilter, InvalidEntry, NewEntry
from livewell.kernel import Database, DatabaseOptions, NotPermitted, NotPrimary
from livewell.testing import Standby, connected

WHOLE = NewEntry(
    event="job_retried",
    table_name="job",
    record_id="17",
    operation="update",
    old={"state": "failed", "n": [1, None]},
    new={"state": "pending", "name": "naïve ☃"},
    reason="the disk is back",
    actor="ann",
    subject="patient-4",
    job_id=17,
    detail={"from": "console"},
)


async def test_an_entry_is_read_back_as_it_was_written(store: AuditStore) -> None:
    """Every field comes back, with the time passed in and the id that writing answered."""
    at = datetime(2021, 3, 4, 5, 6, 7, 89, tzinfo=UTC)
    (number,) = await store.write_entries([WHOLE], at=at)
    (entry,) = await store.list_entries()
    assert entry.given() | {"id": number, "at": at, "xid": entry.xid} == entry.given()
    assert {name: getattr(entry, name) for name in WHOLE.given()} == WHOLE.given()


async def test_a_batch_keeps_its_order_and_its_transaction(store: AuditStore) -> None:
    """Ids rise in the order of the batch, and all of it bears one transaction id."""
    numbers = await store.write_entries([NewEntry(event=f"step_{n}_done") for n in range(50)])
    assert numbers == sorted(numbers)
    entries = await store.list_entries()
    assert [entry.event for entry in reversed(entries)] == [f"step_{n}_done" for n in range(50)]
    assert len({entry.xid for entry in entries}) == 1
    assert await store.write_entries([]) == []


async def test_an_entry_always_has_an_actor(store: AuditStore) -> None:
    """Who is not named is the login that wrote."""
    await store.write_entries([NewEntry(event="key_rotated"), NewEntry(event="key_rotated", actor="")])
    assert {entry.actor for entry in await store.list_entries()} == {"livewell_test_service"}


async def test_an_entry_stands_or_falls_with_its_transaction(database: Database, store: AuditStore) -> None:
    """What is rolled back was not done, and is not in the log."""
    async with connected(database.options.url) as connection:
        transaction = connection.transaction()
        await transaction.start()
        await AuditStore(connection).write_entries([NewEntry(event="kind_paused")])
        await transaction.rollback()
    assert await store.list_entries() == []


NO_ENTRIES = [
    ('[{"event": "kind_paused", "detial": 1}]', "has no detial"),
    ('[{"event": "fine"}, {"subject": "x"}]', "event is not a word"),
    ('[{"event": "Not A Word"}]', "event is not a word"),
    ('[{"event": "fine", "operation": "UPDATE it"}]', "operation is not a word"),
    ('[{"event": "fine", "job_id": "seventeen"}]', "job_id is not a job's number"),
    ('[{"event": "fine", "job_id": 1.5}]', "job_id is not a job's number"),
    ("[17]", "not a JSON object"),
    ('{"event": "fine"}', "not a JSON array"),
    (None, "not a JSON array"),
]


async def test_what_is_no_entry_is_refused_whole(database: Database, store: AuditStore) -> None:
    """One bad entry refuses its batch with a fact that says what is wrong: no evidence is lost unseen."""
    for entries, said in NO_ENTRIES:
        with pytest.raises(InvalidEntry, match=said):
            await database.fetch("select livewell.audit_write($1::text::jsonb)", entries)
    assert await store.list_entries() == []


async def test_what_cannot_be_stored_is_refused_with_a_fact(store: AuditStore) -> None:
    """A NUL, half a character or something that is no JSON never reaches the database as a bare driver error."""
    for value in ("a\0b", {"a\0b": 1}, "\ud800", object()):
        with pytest.raises(InvalidEntry):
            await store.write_entries([NewEntry(event="note_added", detail=value)])


async def test_what_only_looks_like_nul_is_stored(store: AuditStore) -> None:
    """A backslash before u0000 is text like any other, and figures that are none are kept by name."""
    await store.write_entries([NewEntry(event="note_added", detail=["\\u0000", math.inf])])
    assert (await store.list_entries())[0].detail == ["\\u0000", "Infinity"]


async def test_an_entry_of_16_mib_is_refused(store: AuditStore) -> None:
    """An entry that could not be hashed in one piece later is refused at the door."""
    with pytest.raises(InvalidEntry, match="16 MiB"):
        await store.write_entries([NewEntry(event="note_added", detail="x" * (16 * 1024 * 1024))])


@pytest.mark.xdist_group("standby")
async def test_a_replica_writes_no_entry(shared_standby: Standby) -> None:
    """On a standby, writing and sealing are refused with the fact."""
    async with await Database.open(DatabaseOptions(url=shared_standby.database_url)) as replica:
        with pytest.raises(NotPrimary, match="this server is a replica"):
            await AuditStore(replica).write_entries([NewEntry(event="kind_paused")])
        with pytest.raises(NotPrimary, match="this server is a replica"):
            await AuditStore(replica).seal_entries(10)


DAY = datetime(2024, 1, 1, tzinfo=UTC)


FOUND = [
    (EntryFilter(), [4, 3, 2, 1]),
    (EntryFilter(event="kind_paused"), [3, 1]),
    (EntryFilter(actor="bob"), [4, 3]),
    (EntryFilter(subject="s2"), [2]),
    (EntryFilter(job_id=7), [4]),
    (EntryFilter(table_name="job"), [4, 2]),
    (EntryFilter(table_name="job", record_id="a"), [2]),
    (EntryFilter(since=DAY + timedelta(days=2)), [4, 3]),
    (EntryFilter(until=DAY + timedelta(days=2)), [2, 1]),
    (EntryFilter(event="kind_paused", actor="ann"), [1]),
    (EntryFilter(limit=2), [4, 3]),
    (EntryFilter(limit=2, before=3), [2, 1]),
    (EntryFilter(event="never_happened"), []),
]


async def test_entries_are_found_by_what_is_asked(store: AuditStore) -> None:
    """Each filter keeps what fits, all of them together what fits all, newest first, a page at a time."""
    entries = [
        NewEntry(event="kind_paused", actor="ann", subject="s1"),
        NewEntry(event="job_retried", actor="ann", subject="s2", table_name="job", record_id="a"),
        NewEntry(event="kind_paused", actor="bob"),
        NewEntry(event="job_cancelled", actor="bob", table_name="job", record_id="b", job_id=7),
    ]
    for days, entry in enumerate(entries):
        await store.write_entries([entry], at=DAY + timedelta(days=days))
    for wanted, found in FOUND:
        assert [entry.id for entry in await store.list_entries(wanted)] == found, wanted


DEEDS = [
    "select from livewell_private.audit_entry",
    "insert into livewell_private.audit_entry (event) values ('forged')",
    "update livewell_private.audit_entry set event = 'forged'",
    "delete from livewell_private.audit_entry",
    "truncate livewell_private.audit_entry",
    "select from livewell_private.audit_seal",
    "insert into livewell_private.audit_seal (number) values (1)",
    "update livewell_private.audit_seal set hash = previous_hash",
    "delete from livewell_private.audit_seal",
    "truncate livewell_private.audit_seal",
]


async def test_the_service_reaches_the_log_by_functions_only(database: Database) -> None:
    """The service has no right on the tables, not even to read."""
    for deed in DEEDS:
        with pytest.raises(NotPermitted):
            await database.execute(deed)


@pytest.mark.parametrize("role", ["livewell_user", "livewell_anon"])
async def test_users_neither_read_nor_write_the_log(owner_url: str, role: str) -> None:
    """No function and no view of this room is for a user."""
    calls = [
        "list_audit()",
        "audit_write('[]')",
        "seal_audit()",
        "export_audit(0, 1)",
        "verify_audit()",
        "audit_state()",
    ]
    async with connected(owner_url) as connection:
        await connection.execute(f"set role {role}")
        for statement in (
            "select from livewell_private.audit_line",
            *(f"select * from livewell.{call}" for call in calls),
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(statement)
