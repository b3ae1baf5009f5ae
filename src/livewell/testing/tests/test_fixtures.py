"""The fixtures themselves: what a test is given, and what it leaves behind."""

from datetime import timedelta

import asyncpg
import pytest

from livewell.kernel import Database, DatabaseOptions
from livewell.testing import OwnServer, PgBouncer, SharedServer, Standby, connected, make_table, make_type

WHO = "select rolsuper, pg_has_role('livewell_service', 'member'), pg_has_role('livewell_owner', 'member')"


async def test_the_service_login_is_only_a_member_of_service(database: Database) -> None:
    """The login of `database` is no superuser and no owner."""
    row = await database.fetchrow(f"{WHO} from pg_roles where rolname = current_user")
    assert row is not None
    assert tuple(row) == (False, True, False)


async def test_owner_and_service_see_the_same_database(database: Database, owner: Database) -> None:
    """`owner` is a superuser on the very database of `database`."""
    name = "select current_database()"
    assert await owner.fetchval(name) == await database.fetchval(name)
    assert await owner.fetchval("select rolsuper from pg_roles where rolname = current_user") is True


async def test_a_database_is_migrated_and_an_empty_one_is_not(owner_url: str, empty_owner_url: str) -> None:
    """The test's database holds Livewell's schema; the empty one does not."""
    found = []
    for url in (owner_url, empty_owner_url):
        async with connected(url) as connection:
            found.append(await connection.fetchval("select to_regnamespace('livewell') is not null"))
    assert found == [True, False]


async def test_a_database_is_dropped_though_someone_is_connected(shared_server: SharedServer) -> None:
    """A forgotten connection does not keep a test's database alive."""
    async with shared_server.database() as name:
        forgotten = await asyncpg.connect(shared_server.owner_url(name))
    async with connected(shared_server.superuser_url) as connection:
        assert not await connection.fetchval("select exists (select from pg_database where datname = $1)", name)
    forgotten.terminate()


async def test_the_template_is_made_once(shared_server: SharedServer, template: str) -> None:
    """Asking for the template again neither builds it again nor builds another."""
    oid = "select oid from pg_database where datname = $1"
    async with connected(shared_server.superuser_url) as connection:
        before = await connection.fetchval(oid, template)
        assert await shared_server.template() == template
        assert await connection.fetchval(oid, template) == before


async def test_own_server_keeps_what_was_committed_over_kill_and_stop(own_server: OwnServer) -> None:
    """A commit survives the postmaster's kill -9 and an immediate stop; the URLs stay the same."""
    async with connected(own_server.owner_url) as connection:
        await connection.execute("create table note (id int)")
        await connection.execute("insert into note values (1)")
    await own_server.kill()
    await own_server.start()
    async with connected(own_server.owner_url) as connection:
        await connection.execute("insert into note values (2)")
    await own_server.stop_at_once()
    await own_server.start()
    async with connected(own_server.owner_url) as connection:
        assert await connection.fetchval("select count(*) from note") == 2
        assert await connection.fetchval("show fsync") == "on"


async def test_standby_follows_refuses_writes_and_takes_over(standby: Standby) -> None:
    """A standby shows what the primary wrote, is read-only, and accepts writes once promoted."""
    async with connected(standby.primary.owner_url) as primary:
        await primary.execute("create table note (id int)")
    await standby.caught_up()
    async with connected(standby.owner_url) as replica:
        assert await replica.fetchval("select count(*) from note") == 0
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            await replica.execute("insert into note values (1)")
        await standby.promote()
        await replica.execute("insert into note values (1)")
    async with connected(standby.database_url) as service:
        assert await service.fetchval("select pg_has_role('livewell_service', 'member')") is True


async def test_pgbouncer_gives_a_server_connection_per_transaction(pgbouncer: PgBouncer) -> None:
    """More clients than server connections are served, which only transaction mode allows."""
    options = DatabaseOptions(url=pgbouncer.url, pooled=True, pool_size=20)
    async with await Database.open(options) as pooled:
        backends = {await pooled.fetchval("select pg_backend_pid()") for _ in range(20)}
        held = [await asyncpg.connect(pgbouncer.url, statement_cache_size=0) for _ in range(20)]
        answers = [await connection.fetchval("select 1") for connection in held]
    for connection in held:
        await connection.close()
    assert len(backends) <= 5
    assert answers == [1] * 20


async def test_make_type_makes_a_type_with_its_kind_and_endpoint(owner: Database) -> None:
    """One call makes a data type that can be refreshed: its endpoint, its kind, and a table Livewell may read."""
    await make_type(owner, "quote", ttl=timedelta(seconds=30), **await make_table(owner, "public.quotes"))
    row = await owner.fetchrow(
        "select t.table_name, t.ttl, k.queue_group from livewell_private.data_type as t"
        " join livewell_private.job_kind as k on k.kind = 'refresh.' || t.name"
        " join livewell_private.endpoint as e on e.name = t.endpoint"
    )
    assert row is not None
    assert tuple(row) == ("public.quotes", timedelta(seconds=30), "refresh")
    assert await owner.fetchval("select has_table_privilege('livewell_reader', 'public.quotes', 'select')")
