"""`livewell migrate` as an operator runs it."""

from pathlib import Path

from livewell.kernel import Database, DatabaseOptions
from tests.acceptance.command import Cli


async def test_an_empty_database_is_planned_migrated_and_checked(tmp_path: Path, empty_owner_url: str) -> None:
    """`--plan` changes nothing, `--check` fails while steps are pending, and migrating twice does nothing more."""
    cli = Cli(tmp_path, empty_owner_url)
    plan = (await cli("migrate", "--plan", "--json")).json
    assert plan["drift"] == []
    assert "0001_kernel_tables.sql" in [step["name"] for step in plan["pending"]]
    unready = await cli("migrate", "--check", code=1)
    assert f"{len(plan['pending'])} steps pending" in unready.err
    assert unready.err.endswith("(run livewell migrate) [cli.schema_not_current]\n")
    applied = (await cli("migrate", "--json")).json
    assert [step["name"] for step in applied["applied"]] == [step["name"] for step in plan["pending"]]
    assert (await cli("migrate", "--check")).out == "nothing to do\n"
    assert (await cli("migrate")).out == "nothing to do\n"


async def test_a_table_changed_by_hand_is_found(owner_cli: Cli, owner: Database) -> None:
    """`--check` names what differs and ends with 1."""
    await owner.execute("alter table livewell_private.job_kind add column by_hand text")
    found = await owner_cli("migrate", "--check", "--json", code=1)
    assert [drift["name"] for drift in found.json["drift"]] == ["job_kind.by_hand"]
    assert "cli.schema_not_current" in found.err


async def test_a_service_may_not_migrate(tmp_path: Path, empty_owner_url: str, database_url: str) -> None:
    """A login without the right is told so in one line, and nothing is made."""
    service = database_url.replace(database_url.partition("@")[2], empty_owner_url.partition("@")[2])
    refused = await Cli(tmp_path, service)("migrate", code=1)
    assert refused.err.count("\n") == 1
    async with await Database.open(DatabaseOptions(url=empty_owner_url)) as owner:
        assert await owner.fetchval("select to_regnamespace('livewell')") is None


async def test_finished_jobs_have_their_partition_from_the_start(tmp_path: Path, empty_owner_url: str) -> None:
    """After a migration the partitions of today are there, so that nothing finished goes to the default one."""
    await Cli(tmp_path, empty_owner_url)("migrate")
    async with await Database.open(DatabaseOptions(url=empty_owner_url)) as owner:
        name = await owner.fetchval(
            "select to_char(now() at time zone 'UTC', '\"livewell_private.job_done_\"YYYYMMDD')"
        )
        assert await owner.fetchval("select to_regclass($1)", name) is not None
