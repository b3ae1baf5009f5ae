"""What the migrated database itself says about rights, paths and bodies."""

import re
import secrets
from pathlib import Path

from livewell.kernel import Database, DatabaseOptions, migrate
from tests.house.checking_server import checking_server
from tests.house.project import PACKAGE, sql_functions, tracked

# What will be read by the rooms of documents and metering.
_NOT_READ_YET = [
    "features.billing_enabled",
    "features.upgrade_prompts_enabled",
    "features.usage_tracking_enabled",
    "maintenance.refuse_uploads",
]

_CHECKED = """
select p.oid::regprocedure::text as function, c.level, c.message, c.detail, c.lineno
  from pg_proc p
  join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
  left join lateral (select tgrelid, tgnewtable from pg_trigger where tgfoid = p.oid limit 1) t on true
 cross join lateral plpgsql_check_function_tb(
           funcoid => p.oid, relid => coalesce(t.tgrelid, 0), newtable => t.tgnewtable,
           fatal_errors => false, security_warnings => true, compatibility_warnings => true) c
 where p.pronamespace = any ('{livewell,livewell_private}'::regnamespace[])
   and (p.prorettype <> 'trigger'::regtype or t.tgrelid is not null)
"""

_FUNCTIONS = """
select p.proname as name, p.prosecdef as definer, p.proowner::regrole::text as owner,
       coalesce(p.proconfig, '{}') as settings, p.prosqlbody is not null as is_bound,
       array(select a.grantee::regrole::text
               from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
              where a.privilege_type = 'EXECUTE' and a.grantee <> p.proowner) as executors
  from pg_proc p
 where p.pronamespace = any ('{livewell,livewell_private}'::regnamespace[])
"""

_HELD_BY_FOREIGN_ROLES = """
select r.name as role, h.what
  from unnest(array['livewell_reader', 'livewell_writer']) as r (name)
 cross join lateral (
           select n.nspname::text as what
             from pg_namespace n
            where n.nspname in ('livewell', 'livewell_private') and has_schema_privilege(r.name, n.oid, 'usage, create')
            union all
           select c.relname
             from pg_class c
            where c.relnamespace = any ('{livewell,livewell_private}'::regnamespace[]) and c.relkind in ('r', 'p',
                'v', 'm')
              and (has_table_privilege(r.name, c.oid, 'select, insert, update, delete, truncate, trigger')
                   or has_any_column_privilege(r.name, c.oid, 'select, insert, update, references'))
            union all
           select c.relname
             from pg_class c
            where c.relnamespace = any ('{livewell,livewell_private}'::regnamespace[]) and c.relkind = 'S'
              and has_sequence_privilege(r.name, c.oid, 'usage, select, update')
            union all
           select p.proname
             from pg_proc p
            where p.pronamespace = any ('{livewell,livewell_private}'::regnamespace[]) and not pg_has_role(r.name,
                p.proowner, 'usage')
              and has_function_privilege(r.name, p.oid, 'execute')
       ) h
"""

_RELATIONS = """
select c.relname as name, c.relowner::regrole::text as owner, a.grantee::regrole::text as grantee,
       a.privilege_type as privilege, c.relkind = 'v' as is_view
  from pg_class c
  left join lateral aclexplode(c.relacl) a on a.grantee <> c.relowner
 where c.relnamespace = any ('{livewell,livewell_private}'::regnamespace[]) and c.relkind in ('r', 'p', 'v', 'm', 'S')
"""


async def test_every_function_pins_its_search_path(owner: Database) -> None:
    """No function in the schema, from a file or not, looks names up by the caller's search_path.

    `pg_temp` is named, and last: unnamed, it would come first for types and relations. A body of one expression is
    bound when it is made, by the migrator's path, and looks nothing up later.
    """
    rows = [row for row in await owner.fetch(_FUNCTIONS) if not row["is_bound"]]
    assert [row["name"] for row in rows if "search_path=pg_catalog, pg_temp" not in row["settings"]] == []
    assert rows


async def test_what_is_forbidden_to_the_planner_is_not_compiled(owner: Database) -> None:
    """A function that forbids a kind of plan turns JIT off: before 18 what is forbidden is costly enough to compile."""
    rows = {row["name"]: row["settings"] for row in await owner.fetch(_FUNCTIONS)}
    forbidding = {
        name: on for name, on in rows.items() if any(re.fullmatch(r"enable_\w+=off", option) for option in on)
    }
    assert [name for name, on in forbidding.items() if "jit=off" not in on] == []
    assert forbidding


async def test_no_function_is_executable_by_public(owner: Database) -> None:
    """PostgreSQL grants EXECUTE to PUBLIC by default; nothing of that is left."""
    rows = await owner.fetch(_FUNCTIONS)
    assert [row["name"] for row in rows if "-" in row["executors"]] == []


async def test_functions_are_executable_by_those_their_file_names(owner: Database) -> None:
    """The rights in the database are the `for:` lines of the files, no more and no less."""
    rows = {row["name"]: set(row["executors"]) for row in await owner.fetch(_FUNCTIONS)}
    declared = {
        function.name: {"livewell_owner"}
        if function.is_foreign
        else {f"livewell_{role}" for role in function.audience - {"internal", "owner"}}
        for function in sql_functions()
    }
    assert rows == declared


async def test_functions_have_the_owners_rights_only_where_others_call_them(owner: Database) -> None:
    """Definer functions run as a role that nobody logs in as, the one their file says; internal ones as who calls."""
    rows = await owner.fetch(_FUNCTIONS)
    called = {function.name for function in sql_functions() if function.is_foreign or function.audience != {"internal"}}
    assert {row["name"]: row["owner"] for row in rows} == {
        function.name: function.owner for function in sql_functions()
    }
    assert {row["name"] for row in rows if row["definer"]} == called


async def test_who_touches_what_is_not_livewells_has_nothing_of_livewells(owner: Database) -> None:
    """Reader and writer hold no right on the schema, on any relation, sequence or function of it but their own, and are
    members of nothing that does.
    """
    rows = await owner.fetch(_HELD_BY_FOREIGN_ROLES)
    assert [tuple(row) for row in rows] == []
    members = await owner.fetch(
        "select m.member::regrole::text as member, m.roleid::regrole::text as role from pg_auth_members as m"
        " where m.member::regrole::text = any ($1)",
        ["livewell_reader", "livewell_writer"],
    )
    assert [tuple(row) for row in members] == [("livewell_writer", "livewell_reader")]


async def test_tables_belong_to_the_owner_and_nobody_else_may_touch_them(owner: Database) -> None:
    """Tables and sequences are private: other roles hold no right on them, and only SELECT on views."""
    rows = await owner.fetch(_RELATIONS)
    assert {row["name"] for row in rows if row["owner"] != "livewell_owner"} == set()
    open_tables = [
        (row["name"], row["grantee"], row["privilege"])
        for row in rows
        if row["grantee"] is not None and not (row["is_view"] and row["privilege"] == "SELECT")
    ]
    assert open_tables == []
    assert [row["name"] for row in rows if row["grantee"] == "-"] == []


async def test_what_is_private_is_not_even_named_by_others(owner: Database) -> None:
    """Nobody but the owner may use the private schema; the other one has nothing but functions and views for others."""
    may = await owner.fetch(
        "select a.grantee::regrole::text as grantee from pg_namespace as n"
        " cross join lateral aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a"
        " where n.nspname = 'livewell_private' and a.grantee <> n.nspowner"
    )
    assert [row["grantee"] for row in may] == []
    inside = await owner.fetch(
        "select c.relname as name from pg_class as c"
        " where c.relnamespace = 'livewell'::regnamespace and c.relkind <> 'v'"
        " union all select t.typname from pg_type as t"
        " where t.typnamespace = 'livewell'::regnamespace and t.typrelid = 0 and t.typelem = 0"
    )
    assert [row["name"] for row in inside] == []
    functions = await owner.fetch("select proname as name from pg_proc where pronamespace = 'livewell'::regnamespace")
    assert {row["name"] for row in functions} == {
        function.name for function in sql_functions() if function.audience != {"internal"}
    }


async def test_signatures_for_others_name_no_private_type(owner: Database) -> None:
    """Who may not name a type could not pass it, and would see nothing of it in the manual."""
    rows = await owner.fetch(
        "select p.proname from pg_proc as p where p.pronamespace = 'livewell'::regnamespace and exists ("
        " select from pg_type as t where t.typnamespace = 'livewell_private'::regnamespace"
        " and t.oid = any (p.prorettype || coalesce(p.proallargtypes, p.proargtypes::oid[])))"
    )
    assert [row["proname"] for row in rows] == []


async def test_the_roles_are_groups_without_power(owner: Database) -> None:
    """The six roles cannot log in, are no superusers, bypass no policy and create nothing."""
    rows = await owner.fetch(
        "select rolname from pg_roles where rolname in"
        " ('livewell_owner', 'livewell_service', 'livewell_user', 'livewell_anon',"
        "  'livewell_reader', 'livewell_writer')"
        " and not (rolcanlogin or rolsuper or rolbypassrls or rolcreatedb or rolcreaterole or rolreplication)"
    )
    assert len(rows) == 6


async def test_every_table_has_a_primary_key(owner: Database) -> None:
    """What can be repaired and replicated has a key; the history of jobs has one while it is live.

    The key of a table by days would have to hold the day as well, and be built under a lock on all days at once.
    """
    rows = await owner.fetch(
        "select c.relname from pg_class as c"
        " where c.relnamespace = any ('{livewell,livewell_private}'::regnamespace[]) and c.relkind in ('r', 'p')"
        " and not exists (select from pg_constraint as k where k.conrelid = c.oid and k.contype = 'p')"
    )
    history = re.compile(r"job|job_ended|job_(attempt|brief|done|failed)(_default|_\d+)?")
    assert [row["relname"] for row in rows if not history.fullmatch(row["relname"])] == []


async def test_every_constraint_is_validated(owner: Database) -> None:
    """A constraint that was added NOT VALID is validated by a later migration: it holds for all rows."""
    rows = await owner.fetch(
        "select conname from pg_constraint where connamespace = any"
        " ('{livewell,livewell_private}'::regnamespace[]) and not convalidated"
    )
    assert [row["conname"] for row in rows] == []


async def test_constraints_are_named_as_sentences(owner: Database) -> None:
    """A check constraint's name states its rule; the names PostgreSQL makes up (`…_check`) state nothing."""
    rows = await owner.fetch(
        "select conrelid::regclass::text as table_name, conname from pg_constraint"
        " where connamespace = any ('{livewell,livewell_private}'::regnamespace[]) and contype = 'c'"
    )
    assert [(row["table_name"], row["conname"]) for row in rows if re.search(r"_check\d*$", row["conname"])] == []


async def test_plpgsql_check_finds_nothing(owner: Database, throwaway_folder: Path) -> None:
    """plpgsql_check, at every level, has nothing to say about any function of ours."""
    if await owner.fetchval("select count(*) from pg_available_extensions where name = 'plpgsql_check'"):
        _nothing(await _findings(owner))
        return
    async with checking_server(throwaway_folder / secrets.token_hex(4)) as url:
        await migrate(url)
        async with await Database.open(DatabaseOptions(url=url)) as checking:
            _nothing(await _findings(checking))


async def _findings(database: Database) -> list[str]:
    await database.execute("create extension if not exists plpgsql_check")
    # What runs as reader or writer, and what asks a catalogue, is given its statement by others, which are checked.
    given = {function.name for function in sql_functions() if function.is_foreign} | {
        *("ask_catalogue", "describe_thing", "write_declared"),
    }
    rows = [
        row
        for row in await database.fetch(_CHECKED)
        if row["level"] != "security" or re.sub(r"^livewell(_private)?\.|\(.*", "", row["function"]) not in given
    ]
    return [f"{row['function']} line {row['lineno']}: {row['level']}: {row['message']}" for row in rows]


def _nothing(found: list[str]) -> None:
    assert not found, "\n".join(found)


async def test_every_setting_is_read_by_somebody(owner: Database) -> None:
    """A setting nobody reads promises what nobody does; those that wait for a room that is not built are named."""
    read = "".join(
        path.read_text(encoding="utf-8")
        for path in tracked()
        if path.suffix in {".sql", ".py"}
        and path.is_relative_to(PACKAGE)
        and not {"migrations", "tests"} & set(path.parts)
    )
    names = [row["name"] for row in await owner.fetch("select name from livewell_private.setting order by name")]
    assert [name for name in names if f"'{name}'" not in read and f'"{name}"' not in read] == _NOT_READ_YET
