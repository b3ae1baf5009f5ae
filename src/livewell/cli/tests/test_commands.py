"""What commands there are, and what choosing one imports."""

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest
import typer

from livewell.cli import app
from livewell.cli.commands import COMMANDS
from livewell.cli.entry import run_command
from livewell.kernel import Database
from livewell.testing import until

ROOT: Any = typer.main.get_command(app)
_DEAR = ("aiohttp", "structlog", "prometheus_client", "opentelemetry", "psutil", "rich", "livewell.app")


def _loaded_by(*args: str) -> set[str]:
    """The modules in memory after a command line, in a process of its own."""
    program = (
        "import sys\nfrom livewell.cli.entry import run_command\n"
        f"code = run_command({list(args)!r})\nsys.stderr.write(' '.join(sys.modules))\nsys.exit(code)"
    )
    # Where a terminal is too narrow, a table is folded by Rich.
    wide = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=wide)
    return set(ran.stderr.split())


def _dear(modules: set[str]) -> list[str]:
    return sorted(name for name in modules if name.split(".")[0] in _DEAR or name in _DEAR)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_listing_says_what_the_command_says(name: str) -> None:
    """How a command is listed is how its own help begins, up to the first stop or colon."""
    told = " ".join(ROOT.commands[name].help.split())
    listed = COMMANDS[name].summary.removesuffix(".")
    assert told.startswith(listed)
    assert told[len(listed)] in ".:"


def test_help_imports_no_room() -> None:
    """`livewell --help` waits for nothing but Typer: no room, no driver, no command."""
    modules = _loaded_by("--help")
    assert _dear(modules) == []
    ours = {name for name in modules if name.startswith("livewell")}
    assert ours == {
        *("livewell", "livewell.doors", "livewell.cli", "livewell.cli.entry"),
        *("livewell.cli.commands", "livewell.cli.options"),
    }
    assert "asyncpg" not in modules


@pytest.mark.parametrize(
    ("line", "room"),
    [("endpoints", "budgets"), ("jobs list", "jobs"), ("types list", "registry"), ("settings list", "settings")],
)
def test_a_reading_command_imports_its_own_room_alone(line: str, room: str, database_url: str) -> None:
    """What reads one table imports no HTTP client, no logs, no application, and nothing of another room."""
    modules = _loaded_by("--database-url", database_url, *line.split())
    assert _dear(modules) == []
    inner = {name.split(".")[1] for name in modules if name.startswith("livewell.") and name.count(".") > 1}
    assert inner <= {"cli", "kernel", room}
    assert "livewell.kernel.declarations" not in modules
    assert "livewell.kernel.migrator" not in modules


def test_a_fact_of_a_room_that_was_not_entered_is_told(database_url: str) -> None:
    """What SQL refuses is a fact also in a process that has imported nothing of its room."""
    program = (
        "import asyncio\nfrom livewell.kernel import Database, DatabaseOptions, LivewellError\n"
        "async def ask(url):\n"
        "    async with await Database.open(DatabaseOptions(url=url)) as database:\n"
        "        try: await database.fetch(\"select livewell.enqueue_job('nobody knows it', '{}')\")\n"
        "        except LivewellError as fact: print(fact.code)\n"
        f"asyncio.run(ask({database_url!r}))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == "jobs.unknown_kind\n"


@pytest.mark.parametrize("line", ["freshness", "budgets", "jobs stats", "keys"])
async def test_a_reading_command_asks_over_one_connection(line: str, database_url: str, database: Database) -> None:
    """However much a command asks, it opens one connection: so many commands, so many sessions of the database."""

    async def sessions() -> int:
        # Each statement reads the statistics anew.
        return int(
            await database.fetchval(
                "select pg_stat_get_db_sessions(oid) from pg_database where datname = current_database()"
            )
        )

    before = await sessions()
    for _ in range(3):
        assert await asyncio.to_thread(run_command, ["--database-url", database_url, *line.split(), "--json"]) == 0

    async def all_ended() -> bool:
        return await sessions() >= before + 3

    await until(all_ended, "the sessions are counted")
    assert await sessions() == before + 3
