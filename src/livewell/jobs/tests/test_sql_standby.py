"""A real streaming standby: whatever decides refuses there, whatever only looks still answers."""

import asyncpg
import pytest

from livewell.jobs.tests.sql_surface import Surface, job
from livewell.kernel import Connection
from livewell.testing import Standby, connected

_FUNCTIONS = """
select p.oid::regproc::text as name, p.provolatile = 'v' as may_write,
    p.prosrc ~ 'livewell_private\\.require_primary\\(\\)' as refuses,
    p.prosrc ~ '^\\s*(#[^\\n]*\\s*)?(declare.*?)?begin\\s+perform livewell_private\\.require_primary\\(\\)'
        as refuses_first,
    p.prorettype = 'trigger'::regtype as is_trigger,
    (select string_agg('null::' || format_type(t, null), ', ' order by n)
    from unnest(p.proargtypes) with ordinality as a (t, n)) as nothing,
    exists (
        select from aclexplode(p.proacl) as a
        where a.grantee not in (p.proowner, 'livewell_owner'::regrole) and a.privilege_type = 'EXECUTE'
    ) as is_public
from pg_proc as p
where p.pronamespace = any ('{livewell,livewell_private}'::regnamespace[])
order by p.proname
"""


async def test_every_public_function_that_may_write_refuses_first(queue: Surface) -> None:
    """Whatever the service may call and is not declared read-only asks for the primary before anything else."""
    rows = await queue.caller.fetch(_FUNCTIONS)
    forgetful = [row["name"] for row in rows if row["is_public"] and row["may_write"] and not row["refuses_first"]]
    assert forgetful == []
    asked = {"claim_jobs", "enqueue_jobs", "finish_jobs", "rescue_jobs", "set_setting"}
    assert {f"livewell.{name}" for name in asked} <= {row["name"] for row in rows if row["refuses"]}


@pytest.mark.xdist_group("standby")
async def test_deciding_functions_refuse_on_a_standby(shared_standby: Standby) -> None:
    """Each function that asks for the primary raises LWK01 on a replica, whatever it is given."""
    await shared_standby.caught_up()
    async with connected(shared_standby.owner_url) as replica:
        assert await replica.fetchval("select pg_is_in_recovery()")
        rows = [row for row in await replica.fetch(_FUNCTIONS) if row["refuses"] and not row["is_trigger"]]
        answers = {row["name"]: await _answer(replica, row["name"], row["nothing"] or "") for row in rows}
    assert answers == dict.fromkeys(answers, "LWK01")
    assert len(answers) >= 20


@pytest.mark.xdist_group("standby")
async def test_a_standby_still_shows_the_queue(shared_standby: Standby) -> None:
    """Views and counts answer on a replica with what it has."""
    async with connected(shared_standby.primary.owner_url) as primary:
        await Surface(primary).declare("plain")
        await Surface(primary).enqueue(job())
    await shared_standby.caught_up()
    async with connected(shared_standby.database_url) as replica:
        (row,) = await replica.fetch("select kind, state from livewell.jobs")
        assert (row["kind"], row["state"]) == ("plain", "pending")
        (counted,) = await replica.fetch("select * from livewell.job_counts()")
        assert counted["jobs"] == 1
        assert await replica.fetchval("select livewell.stray_jobs()") == 0


async def _answer(replica: Connection, name: str, arguments: str) -> str:
    try:
        await replica.fetch(f"select * from {name}({arguments})")
    except asyncpg.PostgresError as error:
        return str(error.sqlstate)
    return "answered"
