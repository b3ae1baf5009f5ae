"""Whoever switches the guards off and alters the log is found."""

from dataclasses import dataclass

import pytest

from livewell.audit import (
    AuditStore,
    Exporter,
    Head,
    NewEntry,
    Problem,
    Progress,
    Verification,
    Verifier,
    verify_export,
)
from livewell.kernel import Database
from livewell.testing import connected, until


@dataclass(frozen=True, kw_only=True)
class Tampering:
    """A statement of a superuser with the triggers off, and what verification must say about it."""

    statement: str
    found: set[tuple[Problem, int | None, int | None]]


CASES = {
    "edit of a value": Tampering(
        statement="update livewell_private.audit_entry set new = '{\"n\": 0}' where id = 12",
        found={(Problem.ENTRY_EDITED, 2, 12)},
    ),
    "edit of who": Tampering(
        statement="update livewell_private.audit_entry set actor = 'bob' where id in (3, 4)",
        found={(Problem.ENTRY_EDITED, 1, 3), (Problem.ENTRY_EDITED, 1, 4)},
    ),
    "edit of when": Tampering(
        statement="update livewell_private.audit_entry set at = at + interval '1 microsecond' where id = 1",
        found={(Problem.ENTRY_EDITED, 1, 1)},
    ),
    "deletion": Tampering(
        statement="delete from livewell_private.audit_entry where id = 15", found={(Problem.ENTRY_DELETED, 2, 15)}
    ),
    "deletion of the last sealed entries": Tampering(
        statement="delete from livewell_private.audit_entry where id > 28",
        found={(Problem.ENTRY_DELETED, 3, 29), (Problem.ENTRY_DELETED, 3, 30)},
    ),
    "reordering": Tampering(
        statement="""update livewell_private.audit_entry e set (at, xid, new) = (
            select other.at, other.xid, other.new from livewell_private.audit_entry other where other.id = 30 - e.id)
            where e.id in (13, 17)""",
        found={(Problem.ENTRY_REORDERED, 2, 13), (Problem.ENTRY_REORDERED, 2, 17)},
    ),
    "moving an entry": Tampering(
        statement="""with gone as (delete from livewell_private.audit_entry where id = 5 returning *)
            insert into livewell_private.audit_entry (id, at, xid, event, new, actor) overriding system value
            select 31, at, xid, event, new, actor from gone""",
        found={(Problem.ENTRY_DELETED, 1, 5)},
    ),
    "insertion below the first id": Tampering(
        statement="""insert into livewell_private.audit_entry (id, at, xid, event, actor) overriding system value
            values (0, now(), '1', 'forged', 'ann')""",
        found={(Problem.ENTRY_INSERTED, None, 0)},
    ),
    "edit of a seal": Tampering(
        statement="update livewell_private.audit_seal set sealed_at = sealed_at - interval '1 day' where number = 2",
        found={(Problem.SEAL_ALTERED, 2, None)},
    ),
    "edit of an entry and of its seal": Tampering(
        statement="""
            update livewell_private.audit_entry set actor = 'bob' where id = 12;
            update livewell_private.audit_seal s set digests = (
                select array_agg(sha256(convert_to('{"id" : ' || l.id || ', ' || l.body, 'UTF8')) order by l.id)
                from livewell_private.audit_line l where l.id between 11 and 20) where s.number = 2;
            update livewell_private.audit_seal s set hash = sha256(convert_to(livewell_private.audit_seal_line(s),
                'UTF8'))
            where s.number = 2""",
        found={(Problem.CHAIN_BROKEN, 3, None)},
    ),
    "deletion of a seal": Tampering(
        statement="delete from livewell_private.audit_seal where number = 2",
        found={(Problem.SEAL_MISSING, 2, None), *((Problem.ENTRY_INSERTED, None, n) for n in range(11, 21))},
    ),
    "exchange of two seals": Tampering(
        statement="""
            update livewell_private.audit_seal set number = number + 100 where number in (1, 2);
            update livewell_private.audit_seal set number = 103 - number where number > 100""",
        found={
            *((Problem.SEAL_ALTERED, n, None) for n in (1, 2)),
            *((Problem.CHAIN_BROKEN, n, None) for n in (1, 2, 3)),
        },
    ),
}
ENTRIES = "livewell_private.audit_entry"
SEALS = "livewell_private.audit_seal"


async def _tamper(owner: Database, statement: str) -> None:
    """What only a superuser can do: the guards off, the deed, the guards on again."""
    await owner.execute(
        f"alter table {ENTRIES} disable trigger all; alter table {SEALS} disable trigger all; {statement};"
        f" alter table {ENTRIES} enable always trigger audit_entry_is_append_only;"
        f" alter table {SEALS} enable always trigger audit_seal_is_append_only"
    )


async def _exported(store: AuditStore) -> Verification:
    return verify_export([line async for line in Exporter(store).lines()])


def _found(verification: Verification) -> set[tuple[Problem, int | None, int | None]]:
    return {(finding.problem, finding.seal, finding.entry_id) for finding in verification.findings}


@pytest.fixture
async def head(store: AuditStore) -> Head:
    """Three seals of ten entries each; the head of the last is kept by the test."""
    for seal in range(3):
        await store.write_entries([NewEntry(event="price_changed", actor="ann", new={"n": n}) for n in range(10)])
        await store.seal_entries(10)
        assert (await store.read_state()).head.number == seal + 1
    return (await store.read_state()).head


@pytest.mark.parametrize("name", CASES)
async def test_tampering_is_found_where_it_was_done(store: AuditStore, owner: Database, head: Head, name: str) -> None:
    """Each kind of tampering is named, at its seal and entry, in SQL and in Python, and nothing else is."""
    assert (await Verifier(store).run(expected=head)).intact
    await _tamper(owner, CASES[name].statement)
    assert _found(await Verifier(store).run()) == CASES[name].found
    rows = await owner.fetch("select problem, seal, entry_id from livewell.verify_audit()")
    assert {(Problem(row["problem"]), row["seal"], row["entry_id"]) for row in rows} == CASES[name].found


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"insertion below the first id"}))
async def test_an_export_of_a_tampered_log_does_not_verify(
    store: AuditStore, owner: Database, head: Head, name: str
) -> None:
    """What was altered in the database is found in its export too, without the database."""
    assert (await _exported(store)).intact
    await _tamper(owner, CASES[name].statement)
    assert not (await _exported(store)).intact


async def test_an_entry_put_into_a_closed_gap_is_found(store: AuditStore, owner: Database, database_url: str) -> None:
    """An id that a rolled-back write left unused cannot be filled afterwards without being seen."""
    async with connected(database_url) as undone:
        await undone.execute("begin")
        (gone,) = await AuditStore(undone).write_entries([NewEntry(event="price_changed")])
        await undone.execute("rollback")
    await until(lambda: _gap_is_closed(store, owner), "no transaction on the server is older than the gap")
    await owner.execute(
        "insert into livewell_private.audit_entry (id, at, xid, event, actor) overriding system value"
        " values ($1, now(), pg_current_xact_id(), 'forged', 'ann')",
        gone,
    )
    assert _found(await Verifier(store).run()) == {(Problem.ENTRY_INSERTED, None, gone)}


async def _gap_is_closed(store: AuditStore, owner: Database) -> bool:
    await store.write_entries([NewEntry(event="price_changed")])
    await store.seal_entries(10)
    return bool(await owner.fetchval(f"select isempty(open_ids) from {SEALS} where number > 1 order by number desc"))


async def test_a_cut_tail_is_found_by_a_head_kept_elsewhere(store: AuditStore, owner: Database, head: Head) -> None:
    """A tail cut off with its seals leaves a chain that is whole in itself; the kept head proves the cut."""
    await _tamper(owner, f"delete from {SEALS} where number = 3; delete from {ENTRIES} where id > 20")
    alone = await Verifier(store).run()
    assert alone.intact
    assert alone.missing_ids == 10
    assert _found(await Verifier(store).run(expected=head)) == {(Problem.TAIL_CUT, 3, None)}
    exported = verify_export([line async for line in Exporter(store).lines()], expected=head)
    assert _found(exported) == {(Problem.TAIL_CUT, 3, None)}


async def test_a_rewritten_history_is_found_by_a_head_kept_elsewhere(
    store: AuditStore, owner: Database, head: Head
) -> None:
    """Sealing a falsified log anew gives other hashes than the one that was kept."""
    await _tamper(owner, f"delete from {SEALS}; update {ENTRIES} set actor = 'bob' where id = 1")
    for _ in range(3):
        await store.seal_entries(10)
    assert (await Verifier(store).run()).intact
    assert _found(await Verifier(store).run(expected=head)) == {(Problem.HISTORY_REWRITTEN, 3, None)}
    exported = verify_export([line async for line in Exporter(store).lines()], expected=head)
    assert _found(exported) == {(Problem.HISTORY_REWRITTEN, 3, None)}


async def test_an_older_head_still_proves_what_it_covers(store: AuditStore, head: Head) -> None:
    """A head stays good while the log grows, and the unsealed tail is stated."""
    await store.write_entries([NewEntry(event="price_changed")] * 4)
    await store.seal_entries(3)
    verification = await Verifier(store).run(expected=head)
    assert verification.intact
    assert (verification.entries, verification.unsealed_entries, verification.head.number) == (33, 1, 4)


async def test_verification_goes_in_portions_and_tells_how_far_it_is(store: AuditStore, head: Head) -> None:
    """However long the log, a portion at a time is looked at; progress rises to the end."""
    told: list[Progress] = []
    assert (await Verifier(store, portion=10).run(progress=told.append)).intact
    shares = [progress.done / progress.total for progress in told]
    assert len(shares) == 6
    assert shares == sorted(shares)
    assert shares[-1] == 1


async def test_a_thousand_findings_are_enough(store: AuditStore, owner: Database) -> None:
    """When everything was altered, the list ends at a thousand and says that there is more."""
    await store.write_entries([NewEntry(event="price_changed")] * 1200)
    await store.seal_entries(10_000)
    await _tamper(owner, f"update {ENTRIES} set actor = 'bob'")
    verification = await Verifier(store).run()
    assert len(verification.findings) == 1000
    assert verification.truncated


async def test_the_settings_of_a_session_change_no_hash(store: AuditStore, owner: Database) -> None:
    """What was sealed under one time zone and date style verifies under others."""
    odd = "set local timezone = 'Asia/Kolkata'; set local datestyle = 'German'; set local bytea_output = 'escape';"
    await store.write_entries([NewEntry(event="price_changed", new={"x": 1.10})])
    await owner.execute(f"begin; {odd} select livewell.seal_audit(); commit")
    verification = await Verifier(store).run()
    assert (verification.entries, verification.findings) == (1, ())
    async with owner.transaction() as connection:
        await connection.execute(f"{odd} set local intervalstyle = 'iso_8601'; set local extra_float_digits = 0")
        assert await connection.fetch("select * from livewell.verify_audit()") == []


async def test_an_empty_log_is_whole(store: AuditStore) -> None:
    """Before the first entry there is nothing to find, in the database or in an export."""
    assert (await Verifier(store).run()).intact
    assert (await _exported(store)).intact
