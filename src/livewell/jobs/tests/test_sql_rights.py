"""Rights: the service calls functions and reads views; tables are nobody's; users and guests call nothing here."""

import asyncpg
import pytest

from livewell.jobs.tests.sql_surface import Surface, job
from livewell.kernel import Database, NotPermitted

TABLES = [
    *("job", "job_live", "job_done", "job_done_default", "job_failed", "job_failed_default"),
    *("job_ended", "job_brief", "job_brief_default"),
    *("job_attempt", "job_attempt_default", "job_kind", "job_lane", "worker"),
]
VIEWS = ["jobs", "job_attempts", "job_kinds", "workers"]


async def test_these_are_all_the_tables(owner: Database) -> None:
    """The list below is complete: a table added to the room is added to the proof."""
    statement = (
        "select relname from pg_class where relnamespace = 'livewell_private'::regnamespace and relkind in ('r', 'p')"
        " and (relname = 'worker' or relname like 'job%') order by 1"
    )
    assert [row["relname"] for row in await owner.fetch(statement)] == sorted(TABLES)


async def test_the_service_touches_no_table(queue: Surface) -> None:
    """Neither reading nor any way of writing is open to the service, table by table."""
    await queue.enqueue(job())
    for table in TABLES:
        for statement in (
            f"select from livewell_private.{table}",
            f"insert into livewell_private.{table} default values",
            f"update livewell_private.{table} set {await _a_column(table)} = null",
            f"delete from livewell_private.{table}",
            f"truncate livewell_private.{table}",
        ):
            with pytest.raises(NotPermitted):
                await queue.caller.execute(statement)
    with pytest.raises(NotPermitted):
        await queue.caller.fetchval("select nextval('livewell_private.job_id_seq')")


async def _a_column(table: str) -> str:
    columns = {"job_kind": "description", "job_lane": "endpoint", "worker": "slots"}
    return columns.get(table, "reason")


async def test_the_service_reads_views_and_writes_none(queue: Surface) -> None:
    """Views are there to look through, not to reach through."""
    await queue.enqueue(job())
    for view in VIEWS:
        await queue.caller.fetch(f"select * from livewell.{view}")
        with pytest.raises((NotPermitted, asyncpg.PostgresError)):
            await queue.caller.execute(f"delete from livewell.{view}")


# What users may do themselves: say what they look at and read it, share what is theirs, and nothing about jobs.
OF_USERS = {
    *("check_on_subscribe", "current_user_id", "keep_watching", "read_items", "stop_watching", "unwatch", "watch"),
    *("create_subject", "has_access", "my_shares", "my_subjects", "remove_subject", "share", "unshare"),
    *("may_watch", "read_values", "reading_statement"),
}


@pytest.mark.parametrize("role", ["livewell_user", "livewell_anon"])
async def test_users_and_guests_have_no_part_in_the_queue(owner: Database, role: str) -> None:
    """No function that comes from the queue can be executed, and no table or view read, by a user or a guest."""
    may = await owner.fetch(
        "select p.proname from pg_proc p where p.pronamespace = any ('{livewell,livewell_private}'::regnamespace[])"
        " and has_function_privilege($1, p.oid, 'execute')",
        role,
    )
    assert {row["proname"] for row in may} <= OF_USERS
    for name in [*TABLES, *VIEWS]:
        there = "select has_table_privilege($1, oid, 'select') from pg_class where relname = $2"
        assert await owner.fetchval(there, role, name) is False
    async with owner.connection() as connection:
        await connection.execute(f"begin; set local role {role}")
        with pytest.raises(NotPermitted):
            await Surface(connection).claim()
        await connection.execute("rollback")


async def test_the_service_calls_no_inner_function(queue: Surface, owner: Database) -> None:
    """The steps of a decision cannot be called on their own, only the decision."""
    inner = await owner.fetch(
        "select p.proname from pg_proc p where p.pronamespace = 'livewell_private'::regnamespace"
        " and not has_function_privilege('livewell_service', p.oid, 'execute')"
    )
    names = {row["proname"] for row in inner}
    assert {"end_jobs", "try_jobs_again", "take_serial_turns", "promote_serial_jobs", "job_rows"} <= names
    with pytest.raises(NotPermitted):
        await queue.caller.fetch("select livewell_private.promote_serial_jobs(array['s'])")
