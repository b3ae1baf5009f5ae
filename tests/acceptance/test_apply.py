"""`livewell apply` as an operator runs it: a plan, a question, and what is wrong told where it stands."""

import asyncio
import os
import pty

import pytest
import pytest_asyncio

from livewell.audit import AuditStore
from livewell.kernel import Database
from livewell.testing import make_market_data
from tests.acceptance.command import LIVEWELL, Cli

FILE = """\
[provider.acme]
base_url = "https://acme.test/v3"
key_env  = "ACME_KEY"
quota    = { bytes = "20 GB", window = "30 days", use = 0.95, pace = "even" }

[provider.acme.endpoint.quote]
requests   = { per_minute = 300 }
concurrent = 10

[provider.acme.key.second]
file  = "/run/secrets/acme"
scope = "other"

[provider.fmp]
requests = { per_minute = 60 }
send_within = "1 second"
"""


TOLD = """\
livewell.toml:2: provider.acme.quota: use should be less than or equal to 1, not 2 [budgets.invalid_field]
livewell.toml:2: provider.acme.quota: unknown field "bites" (did you mean "bytes"?) [budgets.unknown_field]
livewell.toml:5: provider.acme.endpoint.quote: unknown field "requets" (did you mean "requests"?) [budgets.unknown_field]
livewell.toml:6: provider.acme.endpoint.quote: send_within: 'soon' is not a duration; write 500ms, 90s, 10m, 1h30m or 2d [budgets.invalid_field]
livewell.toml:7: provider.acme.endpoint.quote.tokens: per_minute should be greater than 0, not 0 [budgets.invalid_field]
livewell.toml:9: provider.acme.key.one: a key is found in one place: name env or file [budgets.invalid_field]
livewell.toml:11: unknown section "provder" (did you mean "provider"?) [kernel.unknown_section]
"""  # noqa: E501 - as it is printed


@pytest.fixture
def cli(owner_cli: Cli) -> Cli:
    """Where calls go and keys are found is the owner's to apply."""
    return owner_cli


@pytest_asyncio.fixture(autouse=True)
async def _market_data(owner: Database) -> None:
    """The account that most of these tests tune."""
    await make_market_data(owner)


async def test_a_file_is_planned_applied_and_then_nothing_is_left_to_do(cli: Cli, database: Database) -> None:
    """The plan names what is added and what changes from what to what; applied once, the file is how things are."""
    (cli.folder / "livewell.toml").write_text(FILE)
    planned = await cli("apply", "--plan")
    assert planned.out.splitlines() == [
        "+ provider acme (20 GB in 30 d, 95 % of it used)",
        "+ endpoint acme/quote (300/min, 10 at once)",
        "~ endpoint fmp: requests_per_minute 300 → 60",
        "~ endpoint fmp: send_within 2 s → 1 s",
        "+ key acme@default (from env:ACME_KEY)",
        "+ key acme@second (from file:/run/secrets/acme)",
    ]
    assert await AuditStore(database).list_entries() == []
    assert "applied: 5 things changed" in (await cli("apply", "--yes")).out
    actors = {entry.actor for entry in await AuditStore(database).list_entries()}
    assert len(actors) == 1
    assert "@" in (actors.pop() or "")
    again = await cli("apply")
    assert again.out == "nothing to change: everything is as livewell.toml declares it\n"
    shown = (await cli("endpoints", "show", "acme/quote", "--json")).json
    assert (shown["requests_per_minute"], shown["concurrent"], shown["limiter"]) == (300, 10, "strict")


async def test_without_a_terminal_nothing_is_applied_unasked(cli: Cli, database: Database) -> None:
    """The plan is shown, and who cannot be asked says --yes; --json cannot ask either."""
    (cli.folder / "livewell.toml").write_text(FILE)
    refused = await cli("apply", code=2)
    assert "+ provider acme" in refused.out
    assert refused.err.endswith("(say --yes) [cli.misused]\n")
    assert "[cli.misused]" in (await cli("apply", "--json", code=2)).err
    assert await AuditStore(database).list_entries() == []
    document = (await cli("apply", "--json", "--plan")).json
    assert (document["applied"], document["file"]) == (False, "livewell.toml")
    document = (await cli("apply", "--json", "--yes")).json
    assert document["applied"]
    assert {(change["thing"], change["name"], change["change"]) for change in document["changes"]} == {
        ("provider", "acme", "add"),
        ("provider", "fmp", "same"),
        ("endpoint", "acme/quote", "add"),
        ("endpoint", "fmp", "change"),
        ("key", "acme@default", "add"),
        ("key", "acme@second", "add"),
    }


async def test_a_person_is_asked(cli: Cli, database: Database) -> None:
    """On a terminal the plan is followed by a question; no is no, and yes is yes."""
    (cli.folder / "livewell.toml").write_text(FILE)
    for answer, code, entries in ((b"n\n", 1, 0), (b"y\n", 0, 5)):
        leader, follower = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            *(str(LIVEWELL), "apply"),
            cwd=cli.folder,
            env=cli.environment,
            stdin=follower,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        os.close(follower)
        os.write(leader, answer)
        async with asyncio.timeout(60):
            out, err = await process.communicate()
        os.close(leader)
        assert process.returncode == code, (out, err)
        assert b"apply this?" in err
        assert len(await AuditStore(database).list_entries()) == entries


async def test_every_mistake_is_told_where_it_is(cli: Cli, database: Database) -> None:
    """All problems of a file come at once, one line each, with the line, the table and what was probably meant."""
    (cli.folder / "livewell.toml").write_text(
        "[provider.acme]\n"
        "quota = { bites = 1, use = 2 }\n"
        "\n"
        "[provider.acme.endpoint.quote]\n"
        "requets = { per_minute = 300 }\n"
        'send_within = "soon"\n'
        "tokens = { per_minute = 0 }\n"
        "\n"
        "[provider.acme.key.one]\n"
        'scope = "x"\n'
        "[provder.x]\n"
    )
    refused = await cli("apply", "--yes", code=2)
    assert refused.out == ""
    assert refused.err == TOLD
    assert await AuditStore(database).list_entries() == []


async def test_what_the_database_refuses_is_told_at_its_line(cli: Cli, database: Database) -> None:
    """A rule that spans tables is decided by the database, and still answered with the line of the table."""
    (cli.folder / "livewell.toml").write_text(
        '\n[provider.acme]\nquota = { bytes = "1 GB" }\n\n[provider.acme.endpoint.a]\nconcurrent = 100\n'
    )
    refused = await cli("apply", "--yes", code=2)
    assert refused.err.startswith("livewell.toml:2: provider.acme: calls in flight could take ")
    assert refused.err.endswith("[budgets.invalid]\n")
    (cli.folder / "livewell.toml").write_text("[provider.acme]\n[provider.acme.endpoint.a]\nmax_bytes = 1\n")
    refused = await cli("apply", "--yes", code=2)
    assert refused.err == (
        "livewell.toml:2: provider.acme.endpoint.a: max_bytes must be at least expected_bytes [budgets.invalid]\n"
    )
    assert await AuditStore(database).list_entries() == []


async def test_what_is_no_file_or_no_toml_is_one_line(cli: Cli) -> None:
    """A missing file, and a slip in TOML with its line and reason."""
    assert "[cli.file_unavailable]" in (await cli("apply", code=1)).err
    (cli.folder / "other.toml").write_text("[provider.acme]\n\nquota = { bytes = \n")
    refused = await cli("apply", "--file", "other.toml", "--yes", code=2)
    assert refused.err.startswith("other.toml:3: ")
    assert refused.err.endswith("[kernel.toml_syntax]\n")
    assert refused.err.count("\n") == 1


async def test_what_stays_is_shown_to_who_asks(cli: Cli) -> None:
    """With --verbose also what is as declared, and what the file does not name and so leaves alone."""
    (cli.folder / "livewell.toml").write_text("[provider.fmp]\n")
    shown = (await cli("apply", "--verbose")).out.splitlines()
    assert "= provider fmp: as declared" in shown
    assert "  kind backup_operation: not in the file, left alone" in shown


TASKS = """\
[task.totals]
cron      = "30 6 * * 1-5"
time_zone = "Europe/Berlin"

[task.rescue]
every = "2 seconds"
"""


async def test_tasks_are_declared_in_the_same_file(cli: Cli) -> None:
    """A task is added or tuned by the file, planned first, and then it is so."""
    (cli.folder / "livewell.toml").write_text(TASKS)
    planned = (await cli("apply", "--plan")).out.splitlines()
    assert planned[0] == "+ task totals (at 30 6 * * 1-5, Europe/Berlin)"
    assert "~ task rescue: every 1 s → 2 s" in planned
    await cli("apply", "--yes")
    assert (await cli("apply")).out == "nothing to change: everything is as livewell.toml declares it\n"
    assert (await cli("tasks", "show", "totals", "--json")).json["cron"] == "30 6 * * 1-5"


async def test_a_wrong_task_is_told_at_its_line_and_nothing_is_applied(cli: Cli) -> None:
    """What the file has wrong is told before the database is asked; what the database refuses, at the task's line."""
    (cli.folder / "livewell.toml").write_text('[task.totals]\nevrey = "1 minute"\n')
    assert (await cli("apply", "--yes", code=2)).err == (
        'livewell.toml:2: task.totals: unknown field "evrey" (did you mean "every"?) [schedule.unknown_field]\n'
    )
    (cli.folder / "livewell.toml").write_text(f'{TASKS}\n[task.never]\ncron = "0 0 30 2 *"\n')
    refused = (await cli("apply", "--yes", code=2)).err
    assert refused.startswith("livewell.toml:8: task.never: cron expression '0 0 30 2 *' never comes")
    assert refused.endswith("[schedule.invalid_cron]\n")
    await cli("tasks", "show", "totals", code=1)
