"""`livewell tasks`, `task run` and `cron export`, as a person and as an outside cron use them."""

import asyncio
import json
import secrets
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from livewell.kernel import Database, migrate
from livewell.testing import Address, connected, until
from tests.acceptance.command import Cli, Ran
from tests.house.checking_server import checking_server

APP = '''
from livewell import Livewell
app = Livewell()

@app.task("greet", every="1 hour")
async def greet():
    """Say hello."""
    return {"greeted": 1}

@app.task("stumble", every="1 hour")
async def stumble():
    raise RuntimeError("over a stone")
'''
CRON = {
    "shared_preload_libraries": "pg_cron",
    "cron.database_name": "postgres",
    "cron.use_background_workers": "on",
    "max_worker_processes": "20",
}


async def test_a_task_is_run_shown_and_remembered(cli: Cli) -> None:
    """`tasks run` says what it did, then that it is not due; list, show and history know it."""
    assert (await cli("tasks", "run", "settings_care")).out == 'settings_care ran: {"unfit":[]}\n'
    again = (await cli("tasks", "run", "settings_care", "--json")).out
    assert again.count("\n") == 1
    assert json.loads(again) == {"ok": True, "skipped": True, "reason": "not_due"}
    assert "settings_care ran" in (await cli("tasks", "run", "settings_care", "--force")).out
    listed = {task["name"]: task for task in (await cli("tasks", "list", "--json")).json}
    assert listed["settings_care"]["last_success_at"] is not None
    assert "rescue" in (await cli("tasks", "list")).out
    assert (await cli("tasks", "show", "settings_care", "--json")).json["run"] == "livewell.task_settings_care"
    (ran,) = (await cli("tasks", "history", "settings_care", "--json")).json
    assert (ran["outcome"], ran["quiet"], ran["runs"]) == ("succeeded", True, 2)


async def test_a_program_s_tasks_are_run_by_the_program(cli: Cli) -> None:
    """With `--app` its handlers run here; without, the fact names what is missing; a failure ends with 1."""
    (cli.folder / "shop.py").write_text(APP, encoding="utf-8")
    assert (await cli("tasks", "run", "greet", "--app", "shop:app")).out == 'greet ran: {"greeted":1}\n'
    assert (await cli("tasks", "run", "greet", "--force", code=1)).err.endswith("[schedule.not_runnable_here]\n")
    failed = await cli("tasks", "run", "stumble", "--app", "shop:app", "--json", code=1)
    assert failed.json == {"ok": False, "ran": True, "error": {"type": "RuntimeError", "message": "over a stone"}}
    assert failed.err.endswith("task stumble failed: over a stone (livewell tasks history stumble) [cli.task_failed]\n")
    (row,) = (await cli("tasks", "history", "--failed", "--json")).json
    assert (row["task"], row["error"]["message"]) == ("stumble", "over a stone")


async def test_tasks_are_tuned_by_hand(cli: Cli, owner: Database) -> None:
    """set, disable and enable say whether anything changed, and the audit log says who and why."""
    assert (await cli("tasks", "set", "rescue", "every=2s", "lease=1m", "--reason", "calm")).out == "rescue changed\n"
    assert (await cli("tasks", "set", "rescue", "every=2s")).out == "rescue is so already\n"
    assert (await cli("tasks", "disable", "rescue")).out == "rescue is disabled\n"
    assert (await cli("tasks", "disable", "rescue")).out == "rescue was disabled already\n"
    assert (await cli("tasks", "run", "rescue", "--json")).json["reason"] == "disabled"
    assert (await cli("tasks", "enable", "rescue")).out == "rescue is enabled\n"
    rows = await owner.fetch(
        "select event, reason from livewell_private.audit_entry where record_id = 'rescue' order by id"
    )
    assert [tuple(row) for row in rows] == [("task_changed", "calm"), ("task_disabled", None), ("task_enabled", None)]


WRONG = [
    (("tasks", "run", "rescu"), 1, "there is no task rescu (did you mean rescue?) [schedule.unknown_task]\n"),
    (("tasks", "run", "zzz"), 1, "there is no task zzz (livewell tasks list) [schedule.unknown_task]\n"),
    (("tasks", "show", "rescu"), 1, "there is no task rescu (did you mean rescue?) [schedule.unknown_task]\n"),
    (("tasks", "set", "rescue", "cron=61 * * * *"), 1, "[schedule.invalid_cron]\n"),
    (("tasks", "set", "rescue", "evry=1s"), 1, "[schedule.invalid_task]\n"),
    (("tasks", "set", "rescue", "every=soon"), 2, "[cli.misused]\n"),
]


async def test_wrong_input_is_one_line_with_its_code(cli: Cli) -> None:
    """An unknown task, a bad expression, a bad field: each one line that says what is meant."""
    for ran, told in await asyncio.gather(*(_refused(cli, args, code, told) for args, code, told in WRONG)):
        assert ran.err.endswith(told), ran
        assert ran.err.count("\n") == 1


async def _refused(cli: Cli, args: tuple[str, ...], code: int, told: str) -> tuple[Ran, str]:
    return await cli(*args, code=code), told


async def test_a_schedule_that_is_not_there_runs_nothing_and_says_so(tmp_path: Path, empty_owner_url: str) -> None:
    """Unreachable or not migrated: skipped with its reason, and exit code 0, as an outside cron wants it."""
    for url in ("postgresql://nobody@127.0.0.1:1/nothing", empty_owner_url):
        answer = (await Cli(tmp_path, url)("tasks", "run", "rescue", "--json")).json
        assert (answer["ok"], answer["skipped"], answer["reason"]) == (True, True, "schedule_read_error")


async def test_pg_cron_runs_what_was_exported(tmp_path: Path, throwaway_folder: Path) -> None:
    """What `cron export` prints makes a real pg_cron run the tasks; the comment in it takes them out again."""
    async with (
        checking_server(throwaway_folder / secrets.token_hex(4), "pg_cron", CRON) as url,
        connected(url) as home,
    ):
        await home.execute("create extension pg_cron")
        await home.execute("create database shop")
        shop = replace(Address.of(url), database="shop").url
        await migrate(shop)
        printed = (await Cli(tmp_path, shop)("admin", "cron-export")).out
        await home.execute(printed)
        assert await home.fetchval("select count(*) from cron.job where database = 'shop'") >= 6
        async with connected(shop) as inside:
            await until(
                lambda: inside.fetchval("select true from livewell.task_runs where node = 'pg_cron' limit 1"),
                "pg_cron has run a task",
                within=timedelta(seconds=90),
            )
        await home.execute(printed.splitlines()[1].removeprefix("--"))
        assert await home.fetchval("select count(*) from cron.job") == 0
