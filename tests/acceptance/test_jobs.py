"""`livewell jobs` as an operator runs it."""

from livewell.jobs import JobRequest, JobStore
from livewell.kernel import Database
from tests.acceptance.command import Cli
from tests.acceptance.conftest import Bury

KIND = "report_generation"


async def test_a_job_is_queued_listed_and_shown(cli: Cli) -> None:
    """What `enqueue` acknowledges is found by `list`, `show` and `stats`, with what was asked for."""
    queued = await cli(
        *("jobs", "enqueue", KIND, "@job.json" if (cli.folder / "job.json").write_text('{"month": 11}') else ""),
        *("--priority", 9, "--dedupe-key", "november", "--serial-key", "reports", "--delay", "1h", "--json"),
    )
    assert "no running worker handles report_generation" in queued.err
    job_id = queued.json["job_id"]
    again = await cli("jobs", "enqueue", KIND, "-", "--dedupe-key", "november", stdin='{"month": 12}')
    assert again.out == f"job {job_id} kept\n"
    (row,) = (await cli("jobs", "list", "--state", "deferred", "--kind", KIND, "--json")).json
    assert (row["id"], row["state"], row["priority"], row["serial_key"]) == (job_id, "deferred", 9, "reports")
    shown = (await cli("jobs", "show", job_id, "--json")).json
    assert (shown["payload"], shown["attempts"], shown["stored_state"]) == ({"month": 11}, [], "pending")
    (count,) = (await cli("jobs", "stats", "--json")).json
    assert (count["kind"], count["state"], count["jobs"]) == (KIND, "deferred", 1)


async def test_jobs_are_cancelled_by_id(cli: Cli, database: Database) -> None:
    """Waiting jobs end at once; an id that cannot be cancelled is told with exit code 1, and the others are done."""
    store = JobStore(database)
    first, second = [job.job_id for job in await store.enqueue_jobs([JobRequest(kind=KIND, payload={"n": 1})] * 2)]
    done = (await cli("jobs", "cancel", first, "--reason", "twice", "--json")).json
    assert [(job["job_id"], job["outcome"]) for job in done] == [(first, "cancelled")]
    assert (await store.show_job(first))["reason"] == "twice"
    partly = await cli("jobs", "cancel", first, second, 999999, code=1)
    assert partly.err == (
        f"2 of 3 jobs not changed: job {first} is finished (livewell jobs show {first}) [cli.not_all_changed]\n"
    )
    assert (await store.show_job(second))["state"] == "cancelled"


async def test_dead_letters_are_shown_retried_and_acknowledged(cli: Cli, database: Database, bury: Bury) -> None:
    """A dead letter is found with its reason; `retry` gives it another life, `ack` marks it as seen."""
    store = JobStore(database)
    await store.enqueue_jobs([JobRequest(kind=KIND, payload={"n": n}) for n in range(3)])
    first, second, third = await bury("maintenance", "no such month")
    listed = await cli("jobs", "list", "--state", "failed")
    assert listed.out.count("no such month") == 3
    shown = await cli("jobs", "show", first)
    assert "no such month" in shown.out
    assert "ATTEMPT" in shown.out
    assert (await cli("jobs", "ack", first, "--reason", "known", "--json")).json[0]["outcome"] == "acknowledged"
    assert (await cli("jobs", "retry", second, "--json")).json[0]["outcome"] == "retried"
    assert (await cli("jobs", "retry", "--all-failed", "--kind", KIND)).out == "1 job retried\n"
    states = {job_id: (await store.show_job(job_id))["shown_state"] for job_id in (first, second, third)}
    assert states == {first: "failed", second: "retrying", third: "retrying"}


async def test_all_dead_letters_are_acknowledged_in_batches(cli: Cli, database: Database, bury: Bury) -> None:
    """`--all-failed` goes through more than one batch, of the named kind only, and meets each once."""
    store = JobStore(database)
    await store.enqueue_jobs([JobRequest(kind=KIND, payload={"n": n}) for n in range(700)])
    await store.enqueue_jobs([JobRequest(kind="backup_operation", payload={"n": 1})])
    assert len(await bury("maintenance")) == 701
    assert (await cli("jobs", "ack", "--all-failed", "--kind", KIND)).out == "700 jobs acknowledged\n"
    counts = {(count.kind, count.state): count.jobs for count in await store.job_counts()}
    assert counts == {(KIND, "acknowledged"): 700, ("backup_operation", "failed"): 1}
    assert [job["outcome"] for job in (await cli("jobs", "retry", "--all-failed", "--json")).json] == ["retried"]


async def test_what_cannot_be_queued_or_found_is_refused(cli: Cli, database: Database) -> None:
    """Unknown kinds and jobs, empty payloads and closed doors are one line each, and leave the queue as it was."""
    schema = {"type": "object", "required": ["month"]}
    await JobStore(database).set_kind(KIND, {"payload_schema": schema}, reason=None, actor="test")
    for args, told in [
        (("enqueue", "report_generatoin", '{"month": 1}'), "[jobs.unknown_kind]"),
        (("enqueue", KIND, '{"year": 1}'), f"(livewell kinds show {KIND}) [jobs.invalid_payload]"),
        (("enqueue", KIND, '{"month": 1}', "--priority", 99999999999), "[jobs.invalid]"),
        (("enqueue", KIND, "@missing.json"), "[cli.file_unavailable]"),
        (("list", "--kind", "report_generatoin"), f"(did you mean {KIND}?) [jobs.unknown_kind]"),
        (("drain", "--kind", "nothing"), "[jobs.unknown_kind]"),
        (("show", 4711), "[jobs.unknown_job]"),
        (("cancel", 4711), "[cli.not_all_changed]"),
        (("retry", 4711), "[cli.not_all_changed]"),
        (("ack", 4711), "[cli.not_all_changed]"),
        (("retry", "--all-failed", "--kind", "nothing"), "[jobs.unknown_kind]"),
    ]:
        refused = await cli("jobs", *args, code=1)
        assert refused.err.endswith(f"{told}\n"), refused
        assert refused.err.count("\n") == 1, refused
    assert await JobStore(database).job_counts(finished=True) == []


async def test_a_long_list_says_how_to_go_on(cli: Cli, database: Database) -> None:
    """A full page ends with the option that shows the next one."""
    queued = await JobStore(database).enqueue_jobs([JobRequest(kind=KIND, payload={"n": n}) for n in range(3)])
    page = await cli("jobs", "list", "--limit", 2)
    assert page.err == f"there may be more: --before {queued[1].job_id}\n"
    rest = (await cli("jobs", "list", "--before", queued[1].job_id, "--json")).json
    assert [row["id"] for row in rest] == [queued[0].job_id]


async def test_drain_gives_up_in_time(cli: Cli, database: Database) -> None:
    """With jobs that nobody runs, `drain` says why, and ends with 1 after its timeout; with none it ends with 0."""
    assert (await cli("jobs", "drain", "--json")).json["left"] == 0
    await JobStore(database).enqueue_jobs([JobRequest(kind=KIND, payload={"n": 1})])
    late = await cli("jobs", "drain", "--timeout", "300ms", code=1)
    first, last = late.err.splitlines()
    assert first.startswith(f"no running worker handles {KIND}")
    assert last.startswith("1 job is still live after 300ms (")
    assert last.endswith("[cli.drain_timed_out]")
    assert (await cli("jobs", "drain", "--kind", "backup_operation", "--timeout", "5s")).out.startswith("0 jobs done")
