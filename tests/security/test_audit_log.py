"""What the audit log promises against those who may do much: what is refused, and what verification finds."""

import pytest
import pytest_asyncio

from livewell.audit import AppendOnly, AuditStore, EntryFilter, Head, NewEntry, Problem, Verifier
from livewell.kernel import Database, LivewellError, migrate
from livewell.testing import connected, make_endpoint
from tests.contracts.guards import take_away

SERVICE_LOGIN = "livewell_test_service"
ENTRIES, SEALS = "livewell_private.audit_entry", "livewell_private.audit_seal"
CHANGES = [
    f"update {ENTRIES} set login = 'another'",
    f"delete from {ENTRIES}",
    f"truncate {ENTRIES}",
    f"truncate {ENTRIES}, {SEALS} restart identity cascade",
    f"update {SEALS} set sealed_at = now()",
    f"delete from {SEALS}",
    f"truncate {SEALS}",
    f"merge into {ENTRIES} as e using (values (1)) as v (id) on e.id = v.id when matched then delete",
]
OWNERS_WAYS = {
    "disabled": f"alter table {ENTRIES} disable trigger audit_entry_is_append_only",
    "all disabled": f"alter table {SEALS} disable trigger user",
    "not for a replica": f"alter table {ENTRIES} enable trigger audit_entry_is_append_only",
    "for a replica alone": f"alter table {ENTRIES} enable replica trigger audit_entry_is_append_only",
    "dropped": f"drop trigger audit_seal_is_append_only on {SEALS}",
    "renamed": f"alter trigger audit_seal_is_append_only on {SEALS} rename to another",
    "for fewer": f"drop trigger audit_entry_is_append_only on {ENTRIES};"
    f" create trigger audit_entry_is_append_only before delete on {ENTRIES} for each statement"
    " execute function livewell_private.refuse_audit_change();"
    f" alter table {ENTRIES} enable always trigger audit_entry_is_append_only",
    "renamed table": f"alter table {ENTRIES} rename to kept;"
    f" create table {ENTRIES} (like livewell_private.kept including all)",
}


@pytest_asyncio.fixture
async def head(database: Database, owner: Database) -> Head:
    """Ten entries under a seal, whose head is kept by the test."""
    store = AuditStore(database)
    await store.write_entries([NewEntry(event="price_changed", actor="ann", new={"n": n}) for n in range(10)])
    await store.seal_entries(10)
    return (await store.read_state()).head


async def _found(owner: Database, expected: Head | None = None) -> set[Problem]:
    return {finding.problem for finding in (await Verifier(AuditStore(owner)).run(expected=expected)).findings}


async def _as_owner(owner: Database, statement: str) -> None:
    """Not as a superuser: as the role that owns the tables."""
    async with owner.transaction() as connection:
        await connection.execute("set local role livewell_owner")
        await connection.execute(statement)


async def _the_login_is_told(owner: Database) -> None:
    for entry in await AuditStore(owner).list_entries(EntryFilter()):
        assert entry.login == SERVICE_LOGIN, entry


async def test_an_entry_names_its_login_whatever_actor_is_said(owner: Database, database: Database) -> None:
    """Who says to be another, in the log itself or through what writes there, is recorded with its login."""
    await make_endpoint(owner, "acme/quote")
    await AuditStore(database).write_entries([NewEntry(event="price_changed", actor="postgres")])
    await database.execute("select livewell.set_endpoint('acme/quote', '{\"concurrent\": 3}', null, 'livewell_owner')")
    async with database.connection() as connection:
        await connection.execute("set role livewell_service")
        await connection.execute('select livewell.audit_write(\'[{"event": "price_changed", "actor": "ann"}]\')')
        await connection.execute("reset role")
    entries = await AuditStore(owner).list_entries(EntryFilter())
    assert [entry.actor for entry in entries] == ["ann", "livewell_owner", "postgres"]
    await _the_login_is_told(owner)
    with pytest.raises(LivewellError, match="an audit entry has no login"):
        await database.execute('select livewell.audit_write(\'[{"event": "price_changed", "login": "x"}]\')')


async def test_without_its_guard_a_login_is_what_was_said(owner: Database, database: Database) -> None:
    """The login is the session's because the function that writes takes it from there."""
    await take_away(owner, "audit_write", "e.detail, session_user", "e.detail, e.actor")
    await AuditStore(database).write_entries([NewEntry(event="price_changed", actor="postgres")])
    with pytest.raises(AssertionError):
        await _the_login_is_told(owner)


async def test_entries_from_before_keep_the_form_they_were_sealed_in(owner: Database, head: Head) -> None:
    """An entry without a login has the line of before it was recorded, and one with it has it last."""
    lines = await owner.fetch("select body from livewell_private.audit_line order by id limit 1")
    assert lines[0]["body"].endswith(f', "job_id" : null, "detail" : null, "login" : "{SERVICE_LOGIN}"}}')
    await owner.execute(
        f"insert into {ENTRIES} (at, xid, event, actor, detail)"
        " values ('2026-01-02 03:04:05Z', '7', 'forged', 'ann', '{\"a\": 1}')"
    )
    assert await owner.fetchval("select body from livewell_private.audit_line order by id desc limit 1") == (
        '"at" : "2026-01-02T03:04:05.000000Z", "xid" : "7", "event" : "forged", "table_name" : null,'
        ' "record_id" : null, "operation" : null, "old" : null, "new" : null, "reason" : null, "actor" : "ann",'
        ' "subject" : null, "job_id" : null, "detail" : {"a": 1}}'
    )


@pytest.mark.parametrize("login", ["''", "'another'"])
async def test_an_edited_login_is_found(owner: Database, head: Head, login: str) -> None:
    """The login is under the seal like everything else, and so is that there is one."""
    await _as_owner(
        owner,
        f"{OWNERS_WAYS['disabled']}; update {ENTRIES} set login = {login} where id = 3;"
        f" alter table {ENTRIES} enable always trigger audit_entry_is_append_only",
    )
    assert await _found(owner) == {Problem.ENTRY_EDITED}


async def _changes_are_refused(owner: Database) -> None:
    for change in CHANGES:
        for pretence in ("", "set local session_replication_role = replica;", "set local role livewell_owner;"):
            with pytest.raises(AppendOnly, match="append-only"):
                await owner.execute(f"begin; {pretence} {change}; commit")
            await owner.execute("rollback")


async def test_changes_are_refused_to_everybody(owner: Database, head: Head) -> None:
    """Update, delete, merge and truncate: to a superuser, to one who plays a replica, and to the owner."""
    await _changes_are_refused(owner)
    assert await _found(owner, head) == set()


async def test_a_service_reaches_the_log_by_functions_only(database_url: str, owner: Database, head: Head) -> None:
    """It neither reads nor writes the tables, nor touches what guards them."""
    async with connected(database_url) as service:
        for statement in [
            *CHANGES,
            *OWNERS_WAYS.values(),
            f"select * from {ENTRIES}",
            f"insert into {SEALS} values (2)",
        ]:
            with pytest.raises(Exception, match=r"permission denied|must be owner") as refused:
                await service.execute(statement)
            assert getattr(refused.value, "sqlstate", None) == "42501", statement
    assert await _found(owner, head) == set()


@pytest.mark.parametrize("way", sorted(OWNERS_WAYS))
async def test_an_owner_who_takes_a_guard_away_is_found(owner: Database, head: Head, way: str) -> None:
    """The owner of a table can switch its triggers off, drop or replace them: verification says so from then on."""
    await _as_owner(owner, OWNERS_WAYS[way])
    assert Problem.GUARD_MISSING in await _found(owner)


async def test_migrating_puts_the_guards_back(owner: Database, head: Head) -> None:
    """A guard that was dropped is made again from its file, and verification is content again."""
    await _as_owner(owner, OWNERS_WAYS["dropped"])
    await migrate(owner.options.url)
    assert await _found(owner, head) == set()


@pytest.mark.parametrize("way", ["", " restart identity"])
async def test_a_log_that_was_emptied_is_found_by_a_head_kept_elsewhere(owner: Database, head: Head, way: str) -> None:
    """With the guards off and on again everything can be cut off; the kept head proves it, and nothing else does."""
    off = ";".join(f"alter table {table} disable trigger user" for table in (ENTRIES, SEALS))
    await _as_owner(
        owner,
        f"{off}; truncate {ENTRIES}, {SEALS}{way};"
        f" alter table {ENTRIES} enable always trigger audit_entry_is_append_only;"
        f" alter table {SEALS} enable always trigger audit_seal_is_append_only",
    )
    alone = await Verifier(AuditStore(owner)).run()
    assert (alone.intact, alone.missing_ids) == (True, 0 if way else 10)
    assert await _found(owner, head) == {Problem.TAIL_CUT}


async def test_changes_come_in_without_the_guard(owner: Database, head: Head) -> None:
    """It is the trigger that refuses: without what it raises, every change passes."""
    await take_away(owner, "refuse_audit_change", "raise exception using", "return null; raise exception using")
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        await _changes_are_refused(owner)


@pytest.mark.parametrize(
    ("guard", "way"),
    [("g.tgenabled = 'A' and ", "disabled"), ("g.tgtype = 58 and ", "for fewer"), ("is not true", "dropped")],
)
async def test_verification_needs_its_guards(owner: Database, head: Head, guard: str, way: str) -> None:
    """Without any one of its questions, verification does not see what it asks for."""
    await take_away(owner, "verify_audit_guards", guard, "is false" if guard == "is not true" else "")
    await _as_owner(owner, OWNERS_WAYS[way])
    assert await _found(owner) == set()
