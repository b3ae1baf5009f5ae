"""Dated partitions: made ahead, dropped when their time is over, and never in anybody's way."""

import asyncio
import time
from datetime import datetime, timedelta

import pytest

from livewell.jobs.tests.sql_surface import DAY, MINUTE, NOW, SECOND, Surface, job, jobs, somebody_waits
from livewell.kernel import Database
from livewell.settings import InvalidSettingValue
from livewell.testing import until

BRIEF = "job_brief_202501011200"
HALF_HOUR = timedelta(minutes=30)
HOUR = timedelta(hours=1)
PARENTS = ("job_attempt", "job_done", "job_failed")
TODAY = f"{NOW:%Y%m%d}"


async def _make_all(queue: Surface, days_ahead: int = 0, now: datetime = NOW) -> list[str]:
    statement = "select p.name from livewell.make_job_partitions($1, $2) as p (name)"
    return [row["name"] for row in await queue.caller.fetch(statement, days_ahead, now)]


async def _make(queue: Surface, days_ahead: int = 0, now: datetime = NOW) -> list[str]:
    """Those of days; what is kept briefly has tests of its own."""
    return [name for name in await _make_all(queue, days_ahead, now) if not name.startswith("job_brief")]


async def _drop(queue: Surface, partition: str, now: datetime) -> str:
    return str(await queue.caller.fetchval("select livewell.drop_job_partition($1, $2)", partition, now))


async def _expired(queue: Surface, now: datetime) -> dict[str, bool]:
    rows = await queue.caller.fetch("select * from livewell.expired_job_partitions($1)", now)
    return {row["partition_name"]: row["droppable"] for row in rows}


async def _stray(queue: Surface) -> int:
    return int(await queue.caller.fetchval("select livewell.stray_jobs()"))


async def _where(owner: Database, table: str) -> set[str]:
    rows = await owner.fetch(f"select distinct tableoid::regclass::text as name from livewell_private.{table}")
    return {row["name"].removeprefix("livewell_private.") for row in rows}


async def _one_of_each(queue: Surface, now: datetime = NOW) -> dict[str, int]:
    """A completed job, a cancelled one, a dead letter, and one with an attempt that was followed by another."""
    ids = {}
    for outcome in ("completed", "cancelled", "dead", "failed"):
        await queue.enqueue(job(priority=100), now=now)
        leased = await queue.claim_one(now=now)
        await queue.finish(leased, outcome, now=now)
        ids[outcome] = leased["job_id"]
    return ids


async def test_partitions_are_made_ahead_once(queue: Surface) -> None:
    """Today and the days ahead get a partition per kind of record; a second call finds nothing to do."""
    made = await _make(queue, 2)
    days = [f"{NOW + n * DAY:%Y%m%d}" for n in range(3)]
    assert made == [f"{parent}_{day}" for day in days for parent in PARENTS]
    assert await _make(queue, 2) == []
    assert await _make(queue, 3) == [f"{parent}_{NOW + 3 * DAY:%Y%m%d}" for parent in PARENTS]


async def test_a_day_is_a_day_in_utc(queue: Surface, owner: Database) -> None:
    """What ends in the last second of a UTC day is filed under it, whatever the time zone of the session."""
    midnight = datetime.fromisoformat("2025-01-02T00:00:00+00:00")
    async with owner.connection() as connection:
        await connection.execute("set timezone = 'Pacific/Kiritimati'")
        assert await _make(Surface(connection), 1) == [
            f"{parent}_{day}" for day in ("20250101", "20250102") for parent in PARENTS
        ]
    for end, place in ((midnight - SECOND, "job_done_20250101"), (midnight, "job_done_20250102")):
        await queue.enqueue(job())
        await queue.finish(await queue.claim_one(), now=end)
        assert place in await _where(owner, "job_done")
    assert await _where(owner, "job_done") == {"job_done_20250101", "job_done_20250102"}


async def test_what_ends_lies_in_the_partition_of_its_day(queue: Surface, owner: Database) -> None:
    """With its day's partitions there, nothing strays into a default one."""
    await _make(queue)
    await _one_of_each(queue)
    assert await _stray(queue) == 0
    assert await _where(owner, "job_done") == {f"job_done_{TODAY}"}
    assert await _where(owner, "job_failed") == {f"job_failed_{TODAY}"}
    assert await _where(owner, "job_attempt") == {f"job_attempt_{TODAY}"}


async def test_a_missing_day_stops_nothing_and_is_told(queue: Surface, owner: Database) -> None:
    """Without partitions jobs still end, are found, and are counted as strays; making the day then does no harm."""
    ids = await _one_of_each(queue)
    assert await _stray(queue) == 4
    states = ["completed", "cancelled", "failed", "pending"]
    assert await queue.states(*ids.values()) == states
    assert await _make(queue) == []
    assert await _make(queue, 1) == [f"{parent}_{NOW + DAY:%Y%m%d}" for parent in PARENTS]
    assert await queue.states(*ids.values()) == states


async def test_finished_jobs_are_dropped_when_their_time_is_over(queue: Surface) -> None:
    """A day of finished jobs goes after its retention, counted from the end of the day, and is on record."""
    await queue.set("jobs.retention.completed", "2 days")
    await queue.set("jobs.retention.cancelled", "2 days")
    await _make(queue)
    ids = await _one_of_each(queue)
    end_of_day = datetime.fromisoformat("2025-01-02T00:00:00+00:00")
    done = f"job_done_{TODAY}"
    assert done not in await _expired(queue, end_of_day + 2 * DAY - SECOND)
    assert await _drop(queue, done, end_of_day + 2 * DAY - SECOND) == "kept"
    assert (await _expired(queue, end_of_day + 2 * DAY))[done]
    assert await _drop(queue, done, end_of_day + 2 * DAY) == "dropped"
    assert await _drop(queue, done, end_of_day + 2 * DAY) == "kept"
    gone = {ids["completed"], ids["cancelled"]}
    rows = await queue.caller.fetch("select id from livewell.jobs")
    assert {row["id"] for row in rows} == set(ids.values()) - gone
    (entry,) = await queue.caller.fetch("select * from livewell.list_audit(p_event => 'job_partition_dropped')")
    assert (entry["record_id"], entry["operation"]) == (done, "delete")


async def test_nothing_is_dropped_before_the_longest_retention_it_is_under(queue: Surface) -> None:
    """Completed and cancelled jobs share a day, and a dead letter's attempts are kept as long as itself."""
    await queue.set("jobs.retention.completed", "1 day")
    await queue.set("jobs.retention.cancelled", "5 days")
    await _make(queue)
    later = [NOW + n * DAY for n in (4, 8, 40)]
    names = [set(await _expired(queue, now)) for now in later]
    assert names == [
        {BRIEF},
        {BRIEF, f"job_done_{TODAY}"},
        {BRIEF, f"job_done_{TODAY}", f"job_failed_{TODAY}", f"job_attempt_{TODAY}"},
    ]


async def test_dead_letters_are_dropped_only_when_all_were_seen(queue: Surface) -> None:
    """One dead letter that nobody acknowledged keeps its whole day, however old."""
    await _make(queue)
    one, two = await queue.dead(), await queue.dead()
    years_later, failed = NOW + 1000 * DAY, f"job_failed_{TODAY}"
    assert (await _expired(queue, years_later))[failed] is False
    await queue.acknowledge(one)
    assert await _drop(queue, failed, years_later) == "kept"
    await queue.acknowledge(two)
    assert (await _expired(queue, years_later))[failed] is True
    assert await _drop(queue, failed, years_later) == "dropped"
    assert await queue.cancel(one, two) == {one: "unknown", two: "unknown"}


@pytest.mark.parametrize(
    "name",
    [
        "job_live",
        "job_done_default",
        "job_brief",
        "job_brief_default",
        "job_kind",
        "audit_entry",
        "nosuch",
        "x; drop schema",
    ],
)
async def test_nothing_but_an_expired_partition_can_be_dropped(queue: Surface, owner: Database, name: str) -> None:
    """Whatever else is named is kept, be it a table, an invention or an attack."""
    assert await _drop(queue, name, NOW + 10000 * DAY) == "kept"
    assert await owner.fetchval("select count(*) from livewell_private.job_kind") == 7


async def _seconds(queue: Surface, partition: str) -> tuple[str, float]:
    began = time.monotonic()
    answer = await _drop(queue, partition, NOW + 1000 * DAY)
    return answer, time.monotonic() - began


@pytest.mark.parametrize("table", ["livewell.jobs", f"livewell_private.job_done_{TODAY}"])
async def test_a_drop_gives_up_when_somebody_reads(queue: Surface, owner: Database, table: str) -> None:
    """With a reader in the way a drop is busy after about a second, and meanwhile finishes wait no longer than that."""
    await _make(queue)
    await queue.enqueue(*jobs(2))
    leased = await queue.claim()
    async with owner.transaction() as reader:
        await reader.fetch(f"select count(*) from {table}")
        drop = asyncio.create_task(_seconds(queue, f"job_done_{TODAY}"))
        began = time.monotonic()
        for row in leased:
            assert await queue.finish(row, now=NOW) == "completed"
        assert time.monotonic() - began < 2
        answer, seconds = await drop
    assert answer == "busy"
    assert seconds < 2.5
    assert await queue.states(*(row["job_id"] for row in leased)) == ["completed", "completed"]
    assert await _drop(queue, f"job_done_{TODAY}", NOW + 1000 * DAY) == "dropped"


async def test_making_gives_up_when_somebody_reads(queue: Surface, owner: Database) -> None:
    """With a reader in the way making stops within a second, keeps nobody from finishing, and ends its work later."""
    await _make(queue)
    await queue.enqueue(*jobs(2))
    earlier, leased = await queue.claim()
    # How it is done is known by then: what is left to wait for is the lock.
    assert await queue.finish(earlier, "dead") == "failed"
    async with owner.transaction() as reader:
        await reader.fetch("select count(*) from livewell_private.job_done")
        began = time.monotonic()
        make = asyncio.create_task(_make(queue, 7))
        await until(lambda: somebody_waits(owner), "the maker waits for the reader")
        assert await queue.finish(leased, "dead") == "failed"
        assert not make.done()
        first = await make
        assert time.monotonic() - began < 2
    second = await _make(queue, 7)
    assert len(first) + len(second) == len({*first, *second}) == 21


async def test_a_drop_and_a_reader_never_kill_each_other(queue: Surface, owner: Database) -> None:
    """Readers of all jobs and drops of old days at once end in answers, not in deadlocks."""
    await _make(queue, 5)

    async def read() -> None:
        for _ in range(60):
            async with owner.connection() as connection:
                await connection.fetch("select count(*) from livewell.jobs")

    async def drop() -> None:
        async with owner.connection() as connection:
            for day in range(6):
                await _drop(Surface(connection), f"job_done_{NOW + day * DAY:%Y%m%d}", NOW + 1000 * DAY)

    await asyncio.gather(read(), read(), drop(), read())
    remaining = [name for name in await _expired(queue, NOW + 1000 * DAY) if name.startswith("job_done")]
    for name in remaining:
        assert await _drop(queue, name, NOW + 1000 * DAY) == "dropped"


async def test_two_maintainers_at_once_make_each_partition_once(queue: Surface) -> None:
    """Both may try; between them every partition is made once and nobody fails."""
    answers = await asyncio.gather(*(_make(queue, 4) for _ in range(4)))
    made = [name for names in answers for name in names]
    made += await _make(queue, 4)
    assert len(made) == len(set(made)) == 15
    later = NOW + 1000 * DAY
    drops = await asyncio.gather(*(_drop(queue, f"job_done_{TODAY}", later) for _ in range(4)))
    assert sorted(drops) == ["dropped", "kept", "kept", "kept"]


async def _kept_briefly(owner: Database, kind: str = "plain") -> None:
    await owner.execute("update livewell_private.job_kind set kept_briefly = true where kind = $1", kind)


async def test_half_hours_are_made_for_some_hours(queue: Surface) -> None:
    """What is kept briefly has partitions of half an hour in UTC, for now and six hours ahead, whatever the days."""
    made = [name for name in await _make_all(queue, 7, NOW + 29 * MINUTE) if name.startswith("job_brief")]
    assert made == [f"job_brief_{NOW + n * HALF_HOUR:%Y%m%d%H%M}" for n in range(13)]
    assert await _make_all(queue, 7, NOW + 29 * MINUTE) == []
    assert await _make_all(queue, 7, NOW + HALF_HOUR) == [f"job_brief_{NOW + 13 * HALF_HOUR:%Y%m%d%H%M}"]


async def test_only_what_is_completed_is_kept_briefly(queue: Surface, owner: Database) -> None:
    """Of such a kind, what failed or was cancelled lies with that of every other kind; all are seen alike."""
    await _make_all(queue)
    await _kept_briefly(owner)
    ids = await _one_of_each(queue)
    assert await _stray(queue) == 0
    assert await _where(owner, "job_ended") == {BRIEF, f"job_done_{TODAY}"}
    rows = await owner.fetch("select id, tableoid::regclass::text as place from livewell_private.job_ended order by id")
    assert [(row["id"], row["place"].removeprefix("livewell_private.")) for row in rows] == [
        (ids["completed"], BRIEF),
        (ids["cancelled"], f"job_done_{TODAY}"),
    ]
    assert await queue.states(*ids.values()) == ["completed", "cancelled", "failed", "pending"]
    counts = await queue.caller.fetch("select state, jobs from livewell.job_counts(true, $1)", NOW)
    assert {row["state"]: row["jobs"] for row in counts} == dict.fromkeys(
        ("completed", "cancelled", "failed", "retrying"), 1
    )
    attempts = await queue.caller.fetch("select job_id from livewell.job_attempts")
    assert {row["job_id"] for row in attempts} == set(ids.values())


async def test_what_is_kept_briefly_goes_when_its_own_time_is_over(queue: Surface, owner: Database) -> None:
    """A half hour goes an hour after its end, on record; what else ended in it stays for its days."""
    await queue.declare("other")
    await _make_all(queue)
    await _kept_briefly(owner)
    ids = await _one_of_each(queue)
    other = await queue.enqueue_one("other")
    await queue.finish(await queue.claim_one(kinds=["other"]))
    over = NOW + HALF_HOUR + HOUR
    task = "select livewell.task_{}_retention($1)::text::jsonb ->> 'dropped'"
    assert await _expired(queue, over - SECOND) == {}
    assert await queue.caller.fetchval(task.format("brief"), over - SECOND) == "[]"
    assert await queue.caller.fetchval(task.format("job"), over) == "[]", "the days have a task of their own"
    assert await queue.caller.fetchval(task.format("brief"), over) == f'["{BRIEF}"]'
    assert await queue.caller.fetchval(task.format("brief"), NOW + 1000 * DAY) == "[]"
    rows = await queue.caller.fetch("select id from livewell.jobs")
    assert {row["id"] for row in rows} == {*ids.values(), other} - {ids["completed"]}
    assert await queue.cancel(ids["completed"], other) == {ids["completed"]: "unknown", other: "finished"}
    (entry,) = await queue.caller.fetch("select * from livewell.list_audit(p_event => 'job_partition_dropped')")
    assert (entry["record_id"], entry["table_name"]) == (BRIEF, "job_brief")


async def test_how_long_they_are_kept_is_a_setting_of_its_own(queue: Surface) -> None:
    """An hour, unless set between a quarter of an hour and a week."""
    await _make_all(queue)
    for text, kept in (("15 minutes", HOUR / 4), ("7 days", 7 * DAY)):
        await queue.set("jobs.retention.refreshes", text)
        assert BRIEF not in await _expired(queue, NOW + HALF_HOUR + kept - SECOND)
        assert BRIEF in await _expired(queue, NOW + HALF_HOUR + kept)
    for text in ("14 minutes", "8 days", "0"):
        with pytest.raises(InvalidSettingValue):
            await queue.set("jobs.retention.refreshes", text)


async def test_a_drop_of_half_an_hour_holds_up_no_other_kind(queue: Surface, owner: Database) -> None:
    """While it waits for a reader, jobs of other kinds end as ever; then it gives up, and drops it another time."""
    await queue.declare("other")
    await _make_all(queue)
    await _kept_briefly(owner)
    await queue.enqueue(job())
    await queue.finish(await queue.claim_one())
    await queue.enqueue(job("other"))
    held = await queue.claim_one()
    async with owner.transaction() as reader:
        await reader.fetch(f"select count(*) from livewell_private.{BRIEF}")
        drop = asyncio.create_task(_drop(queue, BRIEF, NOW + DAY))
        await until(lambda: somebody_waits(owner), "the drop waits for the reader")
        assert await queue.finish(held) == "completed"
        assert not drop.done()
        assert await drop == "busy"
        told = await queue.caller.fetchval("select livewell.task_brief_retention($1) ->> 'again_in'", NOW + DAY)
        assert told == "15 minutes"
    assert await _drop(queue, BRIEF, NOW + DAY) == "dropped"


async def test_a_missing_half_hour_stops_nothing_and_is_told(queue: Surface, owner: Database) -> None:
    """Without its partition such a job still ends and is found, and is counted as a stray."""
    await _kept_briefly(owner)
    job_id = await queue.enqueue_one()
    await queue.finish(await queue.claim_one())
    assert await _where(owner, "job_brief") == {"job_brief_default"}
    assert (await _stray(queue), await queue.states(job_id)) == (1, ["completed"])
    assert BRIEF not in await _make_all(queue)
    assert f"job_brief_{NOW + HALF_HOUR:%Y%m%d%H%M}" in await _make_all(queue, 1)
