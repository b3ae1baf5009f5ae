"""The command itself: help, versions, misuse, databases that are not there, and signals."""

import asyncio
import signal
from pathlib import Path

import pytest

from livewell import __version__
from livewell.jobs import JobRequest, JobStore
from livewell.kernel import Database
from tests.acceptance.command import LIVEWELL, Cli

MISUSES = [
    ("jobs lst", "Did you mean 'list'?"),
    ("jobs list --stat failed", "--state"),
    ("jobs list --state faild", "did you mean failed? one of pending, deferred, retrying, processing"),
    ("jobs show twelve", "'twelve' is not an id"),
    ("jobs show 99999999999999999999", "is not an id"),
    ("jobs retry", "name the jobs by id or say --all-failed"),
    ("jobs retry 1 --all-failed", "name the jobs by id or say --all-failed"),
    ("jobs ack 1 --kind report_generation", "--kind goes with --all-failed only"),
    ("jobs enqueue report_generation month=11", "the payload is not JSON"),
    ("jobs enqueue report_generation [1]", "the payload is not a JSON object"),
    ("jobs enqueue report_generation {} --delay 5", "'5' is not a duration (write 500ms, 90s, 10m, 1h30m or 2d)"),
    ("jobs enqueue report_generation {} --at 2030-01-01 --delay 5m", "exclude each other"),
    ("jobs enqueue report_generation {} --on-duplicate replce", "did you mean replace?"),
    ("kinds set report_generation retries", "does not assign anything"),
    ("audit list --since yesterday", "'yesterday' is not a time"),
    ("worker --group ai=many", "'ai=many' is not a group with a share"),
    ("demo --seconds 1", "--seconds"),
]


async def _refused(cli: Cli, line: str, told: str) -> str | None:
    """What is wrong with how a misuse was answered; None when nothing is."""
    ran = await cli(*line.split(), code=2)
    one_line = ran.err.count("\n") == 1 and ran.err.endswith("[cli.misused]\n") and not ran.out
    return None if one_line and told in ran.err else f"{ran}\nexpected one line with {told!r}"


@pytest.mark.parametrize("part", range(3))
async def test_misuse_is_one_line_that_names_the_fix(tmp_path: Path, part: int) -> None:
    """A command line that makes no sense ends with 2 and one line, before any database is asked."""
    cli = Cli(tmp_path, "postgresql://nobody@127.0.0.1:1/nothing")
    answers = await asyncio.gather(*(_refused(cli, line, told) for line, told in MISUSES[part::3]))
    assert [answer for answer in answers if answer] == []


async def test_version_and_help_need_no_database(tmp_path: Path) -> None:
    """`--version` and `--help` answer on standard output; a missing command shows what there is, and ends with 2."""
    cli = Cli(tmp_path, "postgresql://nobody@127.0.0.1:1/nothing")
    assert (await cli("--version")).out == f"livewell {__version__}\n"
    shown = (await cli("jobs", "list", "--help")).out
    assert "List jobs, newest first" in shown
    assert "Example: livewell jobs list" in shown
    assert "Commands:" in (await cli("admin", code=2)).err


async def test_a_bare_group_name_lists(cli: Cli) -> None:
    """The name of a group alone is its listing, with the options of the listing."""
    assert (await cli("maintenance", "--json")).json["enabled"] is False
    assert (await cli("jobs", "--limit", "1")).out == (await cli("jobs", "list", "--limit", "1")).out


async def test_a_database_that_is_not_there_is_a_fact(tmp_path: Path, empty_owner_url: str) -> None:
    """Unreachable and not migrated are told in one line each, with what to do, and exit code 1."""
    away = await Cli(tmp_path, "postgresql://nobody@127.0.0.1:1/nothing")("jobs", "stats", code=1)
    assert away.err.startswith("cannot connect to the database")
    assert away.err.endswith("(check DATABASE_URL and that the server runs) [kernel.database_unavailable]\n")
    raw = await Cli(tmp_path, empty_owner_url)("jobs", "stats", code=1)
    assert raw.err.endswith("(run livewell migrate) [kernel.not_migrated]\n")
    assert (away.err + raw.err).count("\n") == 2


async def test_the_option_wins_over_the_environment(tmp_path: Path, database_url: str) -> None:
    """`--database-url` before the command is used rather than DATABASE_URL."""
    cli = Cli(tmp_path, "postgresql://nobody@127.0.0.1:1/nothing")
    assert (await cli("--database-url", database_url, "jobs", "stats", "--json")).json == []


async def test_ctrl_c_ends_a_command_without_a_word(cli: Cli) -> None:
    """An interrupted command ends with 130 and shows no traceback."""
    await cli("jobs", "enqueue", "report_generation", '{"month": 11}')
    async with cli.running("jobs", "drain") as drain:
        assert drain.inner.stderr is not None
        async with asyncio.timeout(30):
            assert b"no running worker handles report_generation" in await drain.inner.stderr.readline()
        drain.send(signal.SIGINT)
        _, err = await drain.inner.communicate()
    assert (drain.inner.returncode, err) == (130, b"")


async def test_a_reader_that_leaves_is_no_error(cli: Cli, database: Database) -> None:
    """`livewell … | head -1` complains of nothing, be its output one buffer or many."""
    requests = [JobRequest(kind="report_generation", payload={"n": n}) for n in range(500)]
    await JobStore(database).enqueue_jobs(requests)
    for command in ("kinds list", "jobs list --json --limit 500"):
        process = await asyncio.create_subprocess_exec(
            *("bash", "-c", f"{LIVEWELL} {command} | true"),
            env=cli.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert await process.communicate() == (b"", b"")
