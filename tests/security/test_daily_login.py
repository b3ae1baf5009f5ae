"""Daily work needs no superuser: what runs all the time comes as a login that is only a service."""

import signal
from pathlib import Path

import pytest

from livewell.app import Livewell
from livewell.kernel import EmbeddedPostgres, NotPermitted
from livewell.simulator import Simulator
from livewell.testing import begin_as_copy, connected, until
from tests.acceptance.command import Cli
from tests.acceptance.test_up import QUICK, declare

LOGINS = "select distinct usename from pg_stat_activity where datname = 'livewell' and pid <> pg_backend_pid()"


@pytest.fixture
def embedded_cli(own_folder: Path) -> Cli:
    """Commands that bring their own server."""
    own_folder.mkdir()
    own_folder.chmod(0o755)
    return Cli(own_folder, None, LIVEWELL_DATA=str(own_folder / "data"))


async def test_the_login_for_daily_work_is_a_service_and_nothing_else(own_folder: Path) -> None:
    """It is no superuser, a member of one role, and makes nothing: no role, schema or temporary table."""
    await begin_as_copy(EmbeddedPostgres(own_folder))
    async with Livewell(data_folder=own_folder) as app:
        row = await app.database.fetchrow(
            "select session_user = 'livewell' as is_it,"
            " rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as mighty,"
            " array(select roleid::regrole::text from pg_auth_members where member = r.oid) as roles,"
            " has_database_privilege(current_database(), 'create') or has_schema_privilege('public', 'create')"
            " or has_database_privilege(current_database(), 'temporary') as makes"
            " from pg_roles as r where rolname = session_user"
        )
        assert row is not None
        assert (row["is_it"], row["mighty"], row["roles"], row["makes"]) == (True, False, ["livewell_service"], False)
        for forbidden in (
            "create temporary table t ()",
            "create role mallory",
            "select * from livewell_private.audit_entry",
        ):
            with pytest.raises(NotPermitted):
                await app.database.execute(forbidden)


async def test_up_runs_as_that_login(embedded_cli: Cli) -> None:
    """`livewell up` applies its file as the owner, and has no connection of a superuser's when it is up."""
    server = EmbeddedPostgres(Path(embedded_cli.environment["LIVEWELL_DATA"]) / "pg")
    await begin_as_copy(server)
    async with Simulator(QUICK) as simulator:
        declare(embedded_cli, simulator)
        async with embedded_cli.running("up") as up:
            await up.event("worker_started")
            await server.status()
            async with connected(server.url()) as looking:
                assert (
                    await looking.fetchval("select count(*) from livewell_private.data_type where name = 'quote'") == 1
                )

                async def only_services() -> bool:
                    return {row[0] for row in await looking.fetch(LOGINS)} == {"livewell", "livewell_viewers"}

                await until(only_services, "only the service, and who reads for viewers, are connected")
            up.send(signal.SIGTERM)
            assert await up.ended() == 0


async def test_what_a_service_may_not_says_which_role_may(tmp_path: Path, database_url: str, owner_url: str) -> None:
    """A command that needs more than a service names the role; with LIVEWELL_OWNER_URL it is done."""
    cli = Cli(tmp_path, database_url)
    (tmp_path / "livewell.toml").write_text(
        '[provider.acme]\nbase_url = "https://api.acme.example"\n'
        "[provider.acme.endpoint.note]\nrequests = { per_minute = 10 }\n"
        '[type.note]\nendpoint = "acme/note"\nttl = "1 minute"\nenabled = false\n'
    )
    assert "livewell_owner" in (await cli("apply", "--yes", code=1)).err
    assert "livewell_owner" in (await cli("types", "remove", "note", code=1)).err
    cli.environment["LIVEWELL_OWNER_URL"] = owner_url
    await cli("apply", "--yes")
    assert "note" in (await cli("types", "list")).out
