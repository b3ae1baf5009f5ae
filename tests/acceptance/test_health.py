"""`livewell health`: at the terminal, and served."""

import signal

import aiohttp

from livewell.kernel import Database
from tests.acceptance.command import Cli

# The databases of tests are copies of one that may have been made minutes ago.
JUST_NOW = "update livewell_private.task set watched_since = now()"
LONG_AGO = """
update livewell_private.task set watched_since = now() - interval '30 days', enabled = name in ('rescue', 'audit_seal');
update livewell_private.setting set updated_at = now() - interval '30 days'
"""


async def test_health_names_the_late_tasks(cli: Cli, owner: Database) -> None:
    """In time it ends with 0; late tasks are named, on one line with its code, and it ends with 1."""
    await owner.execute(JUST_NOW)
    assert (await cli("health")).out.endswith(" tasks in time\n")
    await owner.execute(LONG_AGO)
    late = await cli("health", "--json", code=1)
    assert sorted(task["task"] for task in late.json["late"]) == ["audit_seal", "rescue"]
    assert late.err.startswith("late: ")
    assert late.err.endswith("[cli.tasks_late]\n")
    await cli("maintenance", "on")
    assert "maintenance mode" in (await cli("health")).out


async def test_health_is_served(cli: Cli, owner: Database) -> None:
    """The API answers /healthz, and runs tasks for who has the token, until it is told to stop."""
    cli.environment["LIVEWELL_TOKEN"] = "secret"
    await owner.execute(JUST_NOW)
    async with (
        cli.running("up", "--no-apply", "--only", "api") as serving,
        aiohttp.ClientSession() as session,
    ):
        address = (await serving.event("api_served"))["address"]
        async with session.get(f"{address}/healthz") as answer:
            assert answer.status == 200
        await owner.execute(LONG_AGO)
        async with session.get(f"{address}/healthz") as answer:
            assert answer.status == 503
        for task in ("rescue", "audit_seal"):
            run = f"{address}/v1/tasks/{task}/run"
            async with session.post(run) as answer:
                assert answer.status == 403
            async with session.post(run, headers={"Authorization": "Bearer secret"}) as answer:
                assert (answer.status, (await answer.json())["ran"]) == (200, True)
        async with session.get(f"{address}/healthz") as answer:
            assert answer.status == 200
        serving.send(signal.SIGTERM)
        assert await serving.ended() == 0


async def test_an_address_that_cannot_be_served_is_a_fact(cli: Cli) -> None:
    """What is not HOST:PORT is a misuse, a taken or foreign address a fact."""
    only = ("up", "--no-apply", "--only", "api", "--listen")
    assert (await cli(*only, "here", code=2)).err.endswith("[cli.misused]\n")
    assert (await cli(*only, "203.0.113.7:1", code=1)).err.endswith("[api.address_taken]\n")
