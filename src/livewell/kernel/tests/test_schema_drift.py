"""Drift: what somebody changed without the migrator is found and told, and repaired where a file says how it was."""

from typing import NamedTuple

import pytest

from livewell.kernel import Action, Change, CheckReport, Drift, check, migrate
from livewell.kernel.tests.conftest import SqlFolder
from livewell.testing import connected

_TABLES = """
create table livewell_private.thing (
    id integer constraint thing_has_id primary key,
    note text not null default 'none',
    size integer constraint thing_size_is_positive check (size > 0)
);
create index thing_by_note on livewell_private.thing (note);
alter table livewell_private.thing enable row level security;
create policy thing_is_seen on livewell_private.thing for select to livewell_user using (id > 1);
create sequence livewell_private.number;
create domain livewell_private.share as numeric constraint share_is_part check (value between 0 and 1);
create type livewell_private.colour as enum ('red', 'green');
"""


class Case(NamedTuple):
    """A change by hand and how it is told."""

    by_hand: str
    change: Change
    kind: str
    name: str


_BY_HAND = [
    Case("create table livewell_private.extra (id integer)", Change.ADDED, "table", "extra"),
    Case("alter table livewell_private.thing set (fillfactor = 50)", Change.CHANGED, "table", "thing"),
    Case("alter table livewell_private.thing disable row level security", Change.REMOVED, "row security", "thing"),
    Case("alter table livewell_private.thing force row level security", Change.CHANGED, "row security", "thing"),
    Case("alter table livewell_private.thing owner to current_user", Change.CHANGED, "table", "thing"),
    Case("alter table livewell_private.thing add column more text", Change.ADDED, "column", "thing.more"),
    Case("alter table livewell_private.thing drop column note", Change.REMOVED, "column", "thing.note"),
    Case("alter table livewell_private.thing alter column size type bigint", Change.CHANGED, "column", "thing.size"),
    Case("alter table livewell_private.thing alter column note drop not null", Change.CHANGED, "column", "thing.note"),
    Case(
        "alter table livewell_private.thing alter column note set default 'x'", Change.CHANGED, "column", "thing.note"
    ),
    Case(
        "alter table livewell_private.thing drop constraint thing_size_is_positive",
        Change.REMOVED,
        "constraint",
        "thing.thing_size_is_positive",
    ),
    Case(
        "alter table livewell_private.thing add constraint wide unique (note)", Change.ADDED, "constraint", "thing.wide"
    ),
    Case("drop index livewell_private.thing_by_note", Change.REMOVED, "index", "thing_by_note"),
    Case("create index thing_by_size on livewell_private.thing (size)", Change.ADDED, "index", "thing_by_size"),
    Case("drop policy thing_is_seen on livewell_private.thing", Change.REMOVED, "policy", "thing.thing_is_seen"),
    Case(
        "create statistics livewell_private.sized on size, note from livewell_private.thing",
        Change.ADDED,
        "statistics",
        "sized",
    ),
    Case("alter sequence livewell_private.number increment 7", Change.CHANGED, "sequence", "number"),
    Case("alter domain livewell_private.share drop constraint share_is_part", Change.CHANGED, "domain", "share"),
    Case("alter type livewell_private.colour add value 'blue'", Change.CHANGED, "type", "colour"),
    Case("grant select on livewell_private.thing to livewell_service", Change.ADDED, "grant", "table thing"),
    Case("grant create on schema livewell to livewell_service", Change.CHANGED, "grant", "schema livewell"),
]

_REPAIRED = [
    Case("drop function livewell.answer()", Change.REMOVED, "function", "answer"),
    Case("alter function livewell.answer() set search_path = public", Change.CHANGED, "function", "answer"),
    Case(
        "create function livewell.answer(integer) returns integer language sql as 'select 1'",
        Change.CHANGED,
        "function",
        "answer",
    ),
    Case("grant execute on function livewell.answer() to public", Change.CHANGED, "grant", "function answer"),
    Case(
        "revoke execute on function livewell.answer() from livewell_service", Change.REMOVED, "grant", "function answer"
    ),
    Case("drop view livewell.things", Change.REMOVED, "view", "things"),
    Case(
        "create or replace view livewell.things as select id from livewell_private.thing where id > 1",
        Change.CHANGED,
        "view",
        "things",
    ),
    Case("grant insert on livewell.things to livewell_anon", Change.CHANGED, "grant", "view things"),
    Case("drop trigger thing_is_touched on livewell_private.thing", Change.REMOVED, "trigger", "thing_is_touched"),
    Case(
        "alter table livewell_private.thing disable trigger thing_is_touched",
        Change.CHANGED,
        "trigger",
        "thing_is_touched",
    ),
]


def _told(case: Case) -> str:
    return f"{case.kind} {case.change}: {case.by_hand[:40]}"


def _schema(folder: SqlFolder) -> None:
    folder.migration(2, "kernel_thing", _TABLES)
    folder.function("answer", "() returns integer language sql set search_path = '' as 'select 42';")
    folder.function(
        "touch",
        "() returns trigger language plpgsql set search_path = '' as 'begin return new; end';",
        audience="internal",
    )
    folder.view("things", "select id from livewell_private.thing;")
    folder.trigger(
        "thing_is_touched",
        "before insert on livewell_private.thing for each row execute function livewell_private.touch();",
    )


async def _by_hand(url: str, statement: str) -> None:
    async with connected(url) as connection:
        await connection.execute(statement)


@pytest.mark.parametrize("case", _BY_HAND, ids=_told)
async def test_drift_of_what_has_no_file_is_told_and_stays_told(
    empty_owner_url: str, sql_folder: SqlFolder, case: Case
) -> None:
    """A change by hand is named exactly, and neither migrating again nor a new migration makes it look intended."""
    _schema(sql_folder)
    await migrate(empty_owner_url, files=sql_folder.files)
    await _by_hand(empty_owner_url, case.by_hand)
    drift = Drift(change=case.change, kind=case.kind, name=case.name)
    assert drift in (await check(empty_owner_url, files=sql_folder.files)).drift
    sql_folder.migration(3, "kernel_other", "create table livewell_private.other (id integer);")
    assert drift in (await migrate(empty_owner_url, files=sql_folder.files)).drift
    assert drift in (await check(empty_owner_url, files=sql_folder.files)).drift


@pytest.mark.parametrize("case", _REPAIRED, ids=_told)
async def test_drift_of_what_has_a_file_is_repaired_from_it(
    empty_owner_url: str, sql_folder: SqlFolder, case: Case
) -> None:
    """A function, view, trigger or grant changed by hand is told by check and made again by migrate."""
    _schema(sql_folder)
    await migrate(empty_owner_url, files=sql_folder.files)
    await _by_hand(empty_owner_url, case.by_hand)
    found = await check(empty_owner_url, files=sql_folder.files)
    assert Drift(change=case.change, kind=case.kind, name=case.name) in found.drift
    report = await migrate(empty_owner_url, files=sql_folder.files)
    assert {step.action for step in report.steps} == {Action.REPAIR}
    assert await check(empty_owner_url, files=sql_folder.files) == CheckReport(pending=(), drift=())


async def test_partitions_of_a_day_are_no_drift(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """Partitions named by their day come and go while the system runs; others are part of the schema."""
    parent = (
        "create table livewell_private.log (at date not null, constraint log_once unique (at)) partition by range (at);"
    )
    reference = "create table livewell_private.note (at date references livewell_private.log (at));"
    sql_folder.migration(2, "kernel_log", parent + "create index log_by_at on livewell_private.log (at);" + reference)
    await migrate(empty_owner_url, files=sql_folder.files)
    day = "create table livewell_private.log_20260102 partition of livewell_private.log"
    day += " for values from ('2026-01-02') to ('2026-01-03')"
    await _by_hand(empty_owner_url, day)
    assert (await check(empty_owner_url, files=sql_folder.files)).is_clean
    await _by_hand(empty_owner_url, "create table livewell_private.log_rest partition of livewell_private.log default")
    drift = (await check(empty_owner_url, files=sql_folder.files)).drift
    assert Drift(change=Change.ADDED, kind="table", name="log_rest") in drift


async def test_another_server_version_is_recorded_not_taken_for_drift(
    empty_owner_url: str, sql_folder: SqlFolder
) -> None:
    """After an upgrade of the server its catalog may word things differently: migrate records it anew."""
    _schema(sql_folder)
    await migrate(empty_owner_url, files=sql_folder.files)
    await _by_hand(
        empty_owner_url, "update livewell_private.schema_object set fingerprint = 'as an older server worded it'"
    )
    found = await check(empty_owner_url, files=sql_folder.files)
    assert found.drift == ()
    assert [(step.action, step.kind) for step in found.pending] == [(Action.RECORD, "schema")]
    await migrate(empty_owner_url, files=sql_folder.files)
    assert (await check(empty_owner_url, files=sql_folder.files)).is_clean
