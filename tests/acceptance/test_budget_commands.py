"""`livewell endpoints`, `providers`, `api-keys` and `budgets` as an operator runs them."""

import asyncio
import signal

import pytest_asyncio

from livewell.audit import AuditStore
from livewell.jobs import JobRequest, JobStore, KindDeclaration
from livewell.kernel import Database
from livewell.testing import make_market_data
from tests.acceptance.command import Cli

FILE = """\
[provider.acme.endpoint.quote]
requests = { per_minute = 300 }
backpressure = { delay = "0s" }

[provider.acme.key.one]
env = "ACME_ONE"

[provider.acme.key.two]
env = "ACME_TWO"

[provider.acme.key.three]
file = "acme.key"
"""


@pytest_asyncio.fixture(autouse=True)
async def _market_data(owner: Database) -> None:
    """The account that most of these tests tune."""
    await make_market_data(owner)


async def test_an_endpoint_is_tuned_paused_resumed_and_reset(cli: Cli, database: Database) -> None:
    """In the words of the file or of the table; what was done is shown and audited, with who and why."""
    assert "fmp changed" in (await cli("endpoints", "set", "fmp", "requests.per_minute=60", "send_within=1s")).out
    assert "so already" in (await cli("endpoints", "set", "fmp", "requests_per_minute=60")).out
    await cli("endpoints", "set", "fmp", "concurrent=4", "max_bytes=1 MB", "depth=unlimited", "breaker.failures=off")
    shown = (await cli("endpoints", "show", "fmp", "--json")).json
    assert (shown["requests_per_minute"], shown["send_within"], shown["max_bytes"]) == (60, "PT1S", 1024**2)
    assert (shown["concurrent"], shown["depth_limit"], shown["breaker_failures"]) == (4, None, None)
    assert "until resumed" in (await cli("endpoints", "pause", "fmp", "--reason", "away")).out
    (listed,) = [endpoint for endpoint in (await cli("endpoints", "list", "--json")).json if endpoint["name"] == "fmp"]
    assert (listed["closed_for_good"], listed["closed_reason"]) == (True, "away")
    assert "until resumed" in (await cli("endpoints", "list")).out
    await cli("endpoints", "pause", "fmp", "--for", "30m", "--reason", "soon back")
    assert "open again" in (await cli("endpoints", "resume", "fmp")).out
    assert "was not closed" in (await cli("endpoints", "resume", "fmp")).out
    await cli("endpoints", "reset", "fmp", "--reason", "new contract")
    entries = list(reversed(await AuditStore(database).list_entries()))
    assert [entry.event for entry in entries] == [
        *("endpoint_changed", "endpoint_changed", "endpoint_paused", "endpoint_paused", "endpoint_resumed"),
        "endpoint_reset",
    ]
    assert entries[-1].reason == "new contract"
    assert "@" in (entries[-1].actor or "")


async def test_a_provider_is_shown_and_tuned(cli: Cli) -> None:
    """Quotas are read and shown as people write them."""
    assert "20 GB" in (await cli("providers", "list")).out
    await cli("providers", "set", "fmp", "quota.bytes=10 GB", "quota.use=0.9", "state=maintenance")
    shown = (await cli("providers", "show", "fmp", "--json")).json
    assert (shown["quota_bytes"], shown["quota_use"], shown["state"]) == (10 * 1024**3, 0.9, "maintenance")
    await cli("providers", "set", "fmp", "quota.bytes=unlimited", "state=")
    shown = (await cli("providers", "show", "fmp", "--json")).json
    assert (shown["quota_bytes"], shown["state"]) == (None, "active")


async def test_keys_are_listed_without_the_keys(cli: Cli, owner_cli: Cli) -> None:
    """Name, scope, source and whether something is there to be read; the value never."""
    (cli.folder / "livewell.toml").write_text(FILE)
    (cli.folder / "acme.key").write_text("secret-of-three")
    cli.environment["ACME_ONE"] = "secret-of-one"
    await owner_cli("apply", "--yes")
    listed = await cli("api-keys", "list", "--json")
    assert {key["name"]: key["readable"] for key in listed.json} == {"one": True, "two": False, "three": True}
    table = await cli("api-keys", "list")
    assert "acme@one is paused" in (await cli("endpoints", "pause", "acme@one")).out
    assert "acme@one is open again" in (await cli("endpoints", "resume", "acme@one")).out
    assert "acme@one" in table.out
    assert "env:ACME_TWO" in table.out
    assert "secret" not in listed.out + listed.err + table.out + table.err


async def test_what_cannot_be_is_refused(cli: Cli, database: Database) -> None:
    """Unknown names and fields, values that do not fit and times gone by are one line each, and change nothing."""
    for args, code, told in [
        (("endpoints", "show", "fpm"), 1, "did you mean fmp?) [budgets.unknown_endpoint]"),
        (("endpoints", "set", "fmpp", "concurrent=1"), 1, "did you mean fmp?) [budgets.unknown_endpoint]"),
        (("endpoints", "set", "fmp", "requets=1"), 1, "[budgets.invalid]"),
        (("endpoints", "set", "fmp", "concurrent=0"), 1, "[budgets.invalid]"),
        (("endpoints", "set", "fmp", "concurrent=often"), 1, "[budgets.invalid]"),
        (("endpoints", "set", "fmp", "max_bytes=much"), 2, "[cli.misused]"),
        (("endpoints", "pause", "fmp", "--until", "2020-01-01T00:00Z"), 1, "[budgets.invalid]"),
        (("endpoints", "pause", "fmp", "--until", "2120-01-01T00:00Z", "--for", "1h"), 2, "[cli.misused]"),
        (("endpoints", "resume", "fmp/x"), 1, "[budgets.unknown_endpoint]"),
        (("endpoints", "reset", "fmp/x"), 1, "[budgets.unknown_endpoint]"),
        (("endpoints", "reset", "fmp@x"), 1, "(livewell api-keys list) [budgets.unknown_endpoint]"),
        (("providers", "show", "fpm"), 1, "did you mean fmp?) [budgets.unknown_provider]"),
        (("providers", "set", "fmp", "quota.use=2"), 1, "[budgets.invalid]"),
        (("providers", "set", "fmp", "quota.use=1"), 1, "[budgets.invalid]"),
        (("budgets", "--watch", "--json"), 2, "[cli.misused]"),
    ]:
        refused = await cli(*args, code=code)
        assert refused.err.endswith(f"{told}\n"), refused
        assert refused.err.count("\n") == 1, refused
    assert await AuditStore(database).list_entries() == []


async def test_the_budget_shows_what_is_used_and_when_it_opens(cli: Cli, owner_cli: Cli, database: Database) -> None:
    """Calls of the last minute and in flight beside their limits, what is closed and why, and how long quotas last."""
    (cli.folder / "livewell.toml").write_text(FILE)
    await owner_cli("apply", "--yes")
    jobs = JobStore(database)
    await jobs.declare_kinds([KindDeclaration(kind="call")], actor="tester")
    await jobs.enqueue_jobs([JobRequest("call", {"n": n}, endpoint="acme/quote") for n in range(3)])
    assert len(await jobs.claim_jobs("w1", ["general"], 2)) == 2
    await cli("endpoints", "pause", "fmp", "--reason", "bill unpaid")
    table = (await cli("budgets")).out.splitlines()
    (quote,) = [line for line in table if line.startswith("acme/quote")]
    assert "2 of 300" in quote
    assert "2 of 10" in quote
    (account,) = [line for line in table if line.startswith("fmp") and "300" in line]
    assert "when resumed (bill unpaid)" in account
    (quota,) = [line for line in table if line.startswith("fmp") and "GB" in line]
    assert "19 GB" in quota
    assert "never exhausted" in quota
    document = (await cli("budgets", "--json")).json
    (quote_now,) = [limit for limit in document["limits"] if limit["name"] == "acme/quote"]
    assert (quote_now["requests_last_minute"], quote_now["in_flight"], quote_now["waiting"]) == (2, 2, 1)
    assert [quota["provider"] for quota in document["quotas"]] == ["fmp"]


async def test_the_budget_is_watched_until_interrupted(cli: Cli) -> None:
    """With --watch the table comes again, and Ctrl-C ends it quietly."""
    async with cli.running("budgets", "--watch") as watching:
        assert watching.inner.stdout is not None
        seen = 0
        async with asyncio.timeout(60):
            while seen < 2:
                seen += (await watching.inner.stdout.readline()).startswith(b"ENDPOINT")
        watching.send(signal.SIGINT)
        assert await watching.ended() == 130
