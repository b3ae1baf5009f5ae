"""F21: a schema that changes under running workers."""

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

import livewell
from livewell.kernel import LivewellError, MigratorOptions, SqlFiles, migrate
from tests.faults.beside import beside
from tests.faults.load import Run
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

PACKAGE = Path(livewell.__file__).parent
CHANGED = ("claim_jobs", "finish_jobs", "heartbeat_jobs", "enqueue_jobs")


async def test_f21_a_migration_under_load_is_not_noticed(run: Run, size: Size, tmp_path: Path) -> None:
    """F21: tables and functions change under load: nobody waits for a lock as long as lock_timeout, nothing is lost."""
    await run.start_workers(size.workers)
    await run.start_producer(rate=100)
    longest: list[float] = [0.0]
    rounds = 0
    async with beside(_watch_locks(run, longest)):
        for _ in size.lasting():
            rounds += 1
            await run.seen("acknowledged", len(run.events("acknowledged")) + 50)
            files = _changed_sql(tmp_path / "sql", rounds)
            report = await migrate(run.owner.options.url, files=files)
            assert {step.name for step in report.steps} >= {*CHANGED, f"{9000 + rounds:04}_jobs_change.sql"}
    await run.passes()
    limit = MigratorOptions().lock_timeout.total_seconds()
    run.figures |= {"migrations": rounds, "longest wait for a lock": f"{longest[0]:.3f} s"}
    assert longest[0] < limit
    assert run.events("unanswered") == []
    # A heartbeat that waits for a lock is given up in time for the next; only a rescue would be a loss.
    assert {event["call"] for event in run.events("call_failed")} <= {"heartbeat"}
    assert run.figures["rescues"] == 0


def _changed_sql(folder: Path, number: int) -> SqlFiles:
    """The shipped SQL with one more migration, and the functions of the hot calls in a new text."""
    for sql in PACKAGE.glob("*/sql"):
        shutil.copytree(sql, folder / sql.parent.name / "sql", dirs_exist_ok=True)
    jobs = folder / "jobs" / "sql"
    (jobs / "migrations" / f"{9000 + number:04}_jobs_change.sql").write_text(
        f"alter table livewell_private.job add column spare_{number} integer default {number};\n"
        f"alter table livewell_private.worker add column spare_{number} text;\n"
        f"create index job_live_spare_{number} on livewell_private.job_live (spare_{number}) where"
        f" spare_{number} = 0;\n"
    )
    for name in CHANGED:
        file = jobs / "functions" / f"{name}.sql"
        file.write_text(f"{file.read_text()}-- Changed for the {number}. time.\n")
    return SqlFiles.below(folder)


async def _watch_locks(run: Run, longest: list[float]) -> None:
    """Keep the longest time that anybody was seen waiting for a lock."""
    while True:
        with suppress(LivewellError):
            waited = await run.owner.fetchval(
                "select coalesce(max(extract(epoch from clock_timestamp() - l.waitstart)), 0)::float8"
                " from pg_locks as l where not l.granted"
            )
            longest[0] = max(longest[0], waited)
        await asyncio.sleep(0.01)
