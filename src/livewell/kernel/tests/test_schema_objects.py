"""Functions, views and triggers become what their files say, whatever stood there before."""

import pytest

from livewell.kernel import CheckReport, MigrationFailed, check, migrate
from livewell.kernel.migration_files import SqlFileInvalid
from livewell.kernel.tests.conftest import SqlFolder
from livewell.testing import connected

_ANSWER = "() returns integer language sql set search_path = '' as 'select 42';"
_TOUCH = "() returns trigger language plpgsql set search_path = '' as 'begin return new; end';"
_TOUCHED = "before insert on livewell_private.thing for each row execute function livewell_private.touch();"
_THINGS = (
    "create table livewell_private.thing (id integer, note text); create table livewell_private.other (id integer);"
)


async def _value(url: str, query: str) -> object:
    async with connected(url) as connection:
        return await connection.fetchval(query)


async def _again(url: str, folder: SqlFolder) -> None:
    """Migrate, and find nothing left to do."""
    await migrate(url, files=folder.files)
    assert await check(url, files=folder.files) == CheckReport(pending=(), drift=())


@pytest.mark.parametrize(
    ("changed", "call"),
    [
        ("() returns integer language sql set search_path = '' as 'select 43';", "livewell.answer()"),
        ("(p_to text) returns integer language sql set search_path = '' as 'select 43';", "livewell.answer('x')"),
        ("() returns bigint language sql set search_path = '' as 'select 43::bigint';", "livewell.answer()"),
        ("(p_a integer, p_b integer default 43) returns integer language sql as 'select 43';", "livewell.answer(1)"),
        ("(out p_x integer, out p_y integer) language sql as 'select 43, 1';", "(livewell.answer()).p_x"),
    ],
    ids=["body", "argument", "return type", "defaults", "out parameters"],
)
async def test_a_changed_function_replaces_the_old_form(
    empty_owner_url: str, sql_folder: SqlFolder, changed: str, call: str
) -> None:
    """Whatever of a function changes, only the new form is left, with its grants."""
    sql_folder.function("answer", _ANSWER)
    await _again(empty_owner_url, sql_folder)
    sql_folder.function("answer", changed)
    await _again(empty_owner_url, sql_folder)
    assert await _value(empty_owner_url, f"select {call}") == 43
    assert await _value(empty_owner_url, "select count(*) from pg_proc where proname = 'answer'") == 1
    granted = "select has_function_privilege('livewell_service', oid, 'execute') from pg_proc where proname = 'answer'"
    assert await _value(empty_owner_url, granted) is True


async def test_a_renamed_parameter_is_no_obstacle(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A parameter's name cannot be replaced in place (42P13); the function is made anew."""
    sql_folder.function("same", "(p_a integer) returns integer language sql set search_path = '' as 'select p_a';")
    await _again(empty_owner_url, sql_folder)
    sql_folder.function("same", "(p_b integer) returns integer language sql set search_path = '' as 'select p_b';")
    await _again(empty_owner_url, sql_folder)
    assert await _value(empty_owner_url, "select livewell.same(p_b => 7)") == 7


async def test_views_that_stand_on_a_changed_function_are_made_again(
    empty_owner_url: str, sql_folder: SqlFolder
) -> None:
    """A function under a view may change its type: the view, and the view on it, come back with their grants."""
    sql_folder.function("answer", _ANSWER)
    sql_folder.view("answers", "select livewell.answer() as answer;")
    sql_folder.view("all_answers", "select answer from livewell.answers;")
    await _again(empty_owner_url, sql_folder)
    sql_folder.function("answer", "() returns text language sql set search_path = '' as $$select 'yes'$$;")
    await _again(empty_owner_url, sql_folder)
    assert await _value(empty_owner_url, "select answer from livewell.all_answers") == "yes"
    granted = "select has_table_privilege('livewell_service', 'livewell.all_answers', 'select')"
    assert await _value(empty_owner_url, granted) is True


async def test_a_view_may_lose_a_column(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A changed column list cannot be replaced in place (42P16); the view is made anew, and those on it too."""
    sql_folder.migration(2, "kernel_things", _THINGS)
    sql_folder.view("b_things", "select id, note from livewell_private.thing;")
    sql_folder.view("a_things", "select id from livewell.b_things;")
    await _again(empty_owner_url, sql_folder)
    sql_folder.view("b_things", "select id from livewell_private.thing;")
    await _again(empty_owner_url, sql_folder)
    columns = "select count(*) from pg_attribute where attrelid = 'livewell.b_things'::regclass and attnum > 0"
    assert await _value(empty_owner_url, columns) == 1


async def test_a_file_need_not_say_or_replace(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A view, function or trigger made by plain CREATE is made anew when its file changes."""
    sql_folder.migration(2, "kernel_things", _THINGS)
    for number in (42, 43):
        sql_folder.function("answer", _ANSWER.replace("42", str(number)))
        sql_folder.function("touch", _TOUCH, audience="internal")
        sql_folder.view("answers", f"select livewell.answer() as answer{number};")
        sql_folder.trigger(
            "thing_is_touched", _TOUCHED.replace("livewell_private.thing", f"livewell_private.thing /*{number}*/")
        )
        for file in sql_folder.path.rglob("*.sql"):
            file.write_text(file.read_text(encoding="utf-8").replace("create or replace", "create"), encoding="utf-8")
        await _again(empty_owner_url, sql_folder)
    assert await _value(empty_owner_url, "select answer43 from livewell.answers") == 43


async def test_a_foreign_view_in_the_way_is_told_and_not_dropped(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """What a user built on a function of ours is not ours to drop: the step fails and has no effect."""
    sql_folder.function("answer", _ANSWER)
    await _again(empty_owner_url, sql_folder)
    async with connected(empty_owner_url) as connection:
        await connection.execute("create view public.mine as select livewell.answer() as answer")
    sql_folder.function("answer", "() returns text language sql set search_path = '' as $$select 'yes'$$;")
    with pytest.raises(MigrationFailed, match=r"answer\.sql"):
        await migrate(empty_owner_url, files=sql_folder.files)
    assert await _value(empty_owner_url, "select answer from public.mine") == 42


async def test_a_removed_file_drops_its_object(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A function, the view on it and the trigger that calls it go when their files go, in an order that works."""
    sql_folder.migration(2, "kernel_things", _THINGS)
    sql_folder.function("answer", _ANSWER)
    sql_folder.function("touch", _TOUCH, audience="internal")
    sql_folder.view("a_answers", "select livewell.answer() as answer;")
    sql_folder.view("b_answers", "select answer from livewell.a_answers;")
    sql_folder.trigger("thing_is_touched", _TOUCHED)
    await _again(empty_owner_url, sql_folder)
    for place in ("functions/answer", "functions/touch", "views/a_answers", "views/b_answers"):
        sql_folder.remove(place)
    sql_folder.remove("triggers/thing_is_touched")
    await _again(empty_owner_url, sql_folder)
    left = "select count(*) from pg_proc where pronamespace = any ('{livewell,livewell_private}'::regnamespace[])"
    assert await _value(empty_owner_url, left) == 0
    assert await _value(empty_owner_url, "select count(*) from pg_views where schemaname like 'livewell%'") == 0


async def test_a_trigger_may_move_to_another_table(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A trigger is where its file says, and nowhere else."""
    sql_folder.migration(2, "kernel_things", _THINGS)
    sql_folder.function("touch", _TOUCH, audience="internal")
    sql_folder.trigger("thing_is_touched", _TOUCHED)
    await _again(empty_owner_url, sql_folder)
    sql_folder.trigger("thing_is_touched", _TOUCHED.replace("livewell_private.thing", "livewell_private.other"))
    await _again(empty_owner_url, sql_folder)
    place = "select string_agg(tgrelid::regclass::text, ',') from pg_trigger where tgname = 'thing_is_touched'"
    assert await _value(empty_owner_url, place) == "livewell_private.other"


async def test_files_are_applied_before_those_that_need_them(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A view on a view, and a function in SQL that calls another, need no luck with the alphabet."""
    sql_folder.view("a_view", "select answer from livewell.z_view;")
    sql_folder.view("z_view", "select livewell.a_function() as answer;")
    sql_folder.function("a_function", "() returns integer language sql set search_path = '' as 'select livewell.z();';")
    sql_folder.function("z", _ANSWER)
    sql_folder.function("b", "() returns setof livewell.a_view language plpgsql as 'begin end';")
    await _again(empty_owner_url, sql_folder)
    assert await _value(empty_owner_url, "select answer from livewell.a_view") == 42


async def test_nobody_but_the_named_roles_may_call(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """EXECUTE goes to the roles of the `for:` line; a role taken out of it loses the right. What becomes internal
    moves to the private schema.
    """
    sql_folder.function("answer", _ANSWER, audience="service, user")
    await _again(empty_owner_url, sql_folder)
    callers = (
        "select string_agg(rolname, ',' order by rolname) from pg_roles"
        " where rolname in ('livewell_service', 'livewell_user', 'livewell_anon')"
        " and has_function_privilege(oid, (select oid from pg_proc where proname = 'answer'), 'execute')"
    )
    assert await _value(empty_owner_url, callers) == "livewell_service,livewell_user"
    sql_folder.function("answer", _ANSWER, audience="internal")
    await _again(empty_owner_url, sql_folder)
    assert await _value(empty_owner_url, callers) is None
    assert await _value(empty_owner_url, "select livewell_private.answer()") == 42


_WHO = (
    " returns text language sql security definer set search_path = pg_catalog, pg_temp as 'select current_user::text';"
)
_OWNERS = "select string_agg(distinct proowner::regrole::text, ',') from pg_proc where proname = 'who'"
_RIGHTS = (
    "select has_schema_privilege('livewell_reader', 'livewell_private', 'usage, create')"
    " or has_function_privilege('livewell_service', oid, 'execute') or has_function_privilege('public', oid, 'execute')"
    " from pg_proc where proname = 'who'"
)


async def test_a_function_runs_as_the_role_its_file_names(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """It belongs to that role, which keeps no right on the schema; the owner alone may call it. A changed form or role
    replaces what was there.
    """
    for line, form, owner in [
        ("\n-- runs as: livewell_reader", "()", "livewell_reader"),
        ("\n-- runs as: livewell_reader", "(p_x integer default 0)", "livewell_reader"),
        ("\n-- runs as: livewell_writer", "(p_x integer default 0)", "livewell_writer"),
        ("", "()", "livewell_owner"),
        ("\n-- runs as: livewell_reader", "()", "livewell_reader"),
    ]:
        sql_folder.function("who", form + _WHO, audience=f"internal{line}")
        await _again(empty_owner_url, sql_folder)
        assert await _value(empty_owner_url, _OWNERS) == owner
        assert await _value(empty_owner_url, _RIGHTS) is False
        assert await _value(empty_owner_url, "select livewell_private.who()") == owner
    async with connected(empty_owner_url) as connection, connection.transaction():
        await connection.execute("set local role livewell_owner")
        assert await connection.fetchval("select livewell_private.who()") == "livewell_reader"


@pytest.mark.parametrize("drift", ["owner to livewell_owner", "owner to current_user", "security invoker"])
async def test_a_function_that_changed_hands_is_put_back(
    empty_owner_url: str, sql_folder: SqlFolder, drift: str
) -> None:
    """Whoever it belongs to now, it is drift, and the next run makes it what its file says."""
    sql_folder.function("who", "()" + _WHO, audience="internal\n-- runs as: livewell_reader")
    await _again(empty_owner_url, sql_folder)
    await _value(empty_owner_url, f"alter function livewell_private.who() {drift}")
    report = await check(empty_owner_url, files=sql_folder.files)
    assert ("function", "who") in [(item.kind, item.name) for item in report.drift]
    await _again(empty_owner_url, sql_folder)
    assert await _value(empty_owner_url, "select livewell_private.who()") == "livewell_reader"


async def test_a_broken_function_changes_none_of_the_others(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """All object files are one transaction: a syntax error names its file and leaves every function as it was."""
    sql_folder.function("answer", _ANSWER)
    await _again(empty_owner_url, sql_folder)
    sql_folder.function("answer", _ANSWER.replace("42", "43"))
    sql_folder.function("broken", "() returns void language plpgsql as 'begin not sql at all; end';")
    with pytest.raises(MigrationFailed, match=r"broken\.sql"):
        await migrate(empty_owner_url, files=sql_folder.files)
    assert await _value(empty_owner_url, "select livewell.answer()") == 42


async def test_a_function_made_by_hand_is_taken_over_by_its_file(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A file whose object somebody already made gets its way, and migrating comes to an end."""
    await _again(empty_owner_url, sql_folder)
    async with connected(empty_owner_url) as connection, connection.transaction():
        await connection.execute("set local role livewell_owner")
        await connection.execute("create function livewell.answer" + _ANSWER)
    sql_folder.function("answer", _ANSWER)
    await _again(empty_owner_url, sql_folder)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("functions/answer", "create or replace function livewell.answer() returns void language sql as '';"),
        ("functions/answer", "-- for: everybody\ncreate or replace function livewell.answer()"),
        ("functions/answer", "-- for: service\ncreate or replace function livewell_private.other() returns void;"),
        (
            "functions/answer",
            "-- for: service\n-- runs as: livewell_reader\ncreate or replace function livewell.answer()",
        ),
        ("functions/answer", "-- for: internal\n-- runs as: postgres\ncreate or replace function livewell.answer()"),
        ("views/Answer", "-- for: service\ncreate or replace view livewell.answer as select 1;"),
        ("migrations/2_short", "select 1;"),
        ("migrations/0001_kernel_twin", "select 1;"),
        ("migrations/0002_kernel_half", "select 1; -- so far\n commit; select 2;"),
    ],
    ids=[
        "no audience",
        "unknown audience",
        "other name",
        "foreign for others",
        "unknown role",
        "bad name",
        "bad number",
        "twin number",
        "commits",
    ],
)
async def test_a_file_that_breaks_the_rules_is_refused_before_anything(
    sql_folder: SqlFolder, place: str, text: str
) -> None:
    """A file that could be misread is refused when the files are read, without a database."""
    path = sql_folder.path / f"{place}.sql"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SqlFileInvalid):
        _ = sql_folder.files
