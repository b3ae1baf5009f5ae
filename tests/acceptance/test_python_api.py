"""The application as a program uses it: declare, queue in one's own transaction, be refused clearly."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio
from pydantic import BaseModel, Field

from livewell import JobRequest, Livewell, OnDuplicate
from livewell.jobs import EmptyPayload, EnqueueDisabled, InvalidJob, InvalidPayload, UnknownKind
from livewell.kernel import Database
from livewell.testing import captured_logs


class ReportRequest(BaseModel):
    month: str = Field(pattern=r"^\d{4}-\d{2}$")


@pytest_asyncio.fixture
async def app(database_url: str) -> AsyncIterator[Livewell]:
    application = Livewell(database_url)

    @application.job("report", retries=3, group="reports", concurrency=2, time_limit=timedelta(minutes=5))
    async def make_report(job: ReportRequest) -> None:
        """Make the monthly report."""

    async with application:
        yield application


async def test_declared_kind_is_data(app: Livewell) -> None:
    """Opening the application makes its kinds known, with what the decorator says and the model's JSON Schema."""
    (kind,) = await app.jobs.list_kinds(["report"])
    assert (kind.queue_group, kind.retries, kind.concurrency) == ("reports", 3, 2)
    assert kind.time_limit == timedelta(minutes=5)
    assert kind.description == "Make the monthly report."
    assert kind.payload_schema is not None
    assert kind.payload_schema["properties"]["month"]["pattern"] == r"^\d{4}-\d{2}$"


async def test_enqueue_in_ones_own_transaction(app: Livewell, owner_url: str) -> None:
    """A job queued with a connection exists if, and only if, that connection's transaction commits."""
    connection = await asyncpg.connect(owner_url)
    try:
        transaction = connection.transaction()
        await transaction.start()
        gone = await app.enqueue(ReportRequest(month="2026-10"), connection=connection)
        await transaction.rollback()
        async with connection.transaction():
            kept = await app.enqueue(ReportRequest(month="2026-11"), connection=connection)
            assert await app.jobs.list_jobs() == []
    finally:
        await connection.close()
    assert [job["id"] for job in await app.jobs.list_jobs()] == [kept.job_id]
    assert gone.job_id != kept.job_id


async def test_duplicates_by_choice(app: Livewell) -> None:
    """A second request with a live dedupe key keeps, replaces or raises the first, as asked."""
    first = await app.enqueue(ReportRequest(month="2026-10"), dedupe_key="r", priority=1)
    kept = await app.enqueue(ReportRequest(month="2026-11"), dedupe_key="r")
    raised = await app.enqueue(
        ReportRequest(month="2026-11"), dedupe_key="r", priority=9, on_duplicate=OnDuplicate.RAISE_PRIORITY
    )
    replaced = await app.enqueue(
        ReportRequest(month="2026-12"), dedupe_key="r", priority=2, on_duplicate=OnDuplicate.REPLACE
    )
    assert {first.job_id, kept.job_id, raised.job_id, replaced.job_id} == {first.job_id}
    assert [each.outcome for each in (first, kept, raised, replaced)] == ["created", "kept", "raised", "replaced"]
    job = await app.jobs.show_job(first.job_id)
    assert (job["payload"], job["priority"]) == ({"month": "2026-12"}, 2)


async def test_payload_is_checked_at_the_door(app: Livewell) -> None:
    """A payload that does not fit its kind's schema is refused, naming the field, with all of its batch."""
    good = JobRequest(kind="report", payload={"month": "2026-11"})
    bad = JobRequest(kind="report", payload={"month": "November"})
    with pytest.raises(InvalidPayload, match=r"payload of report\.month"):
        await app.enqueue_many([good, bad])
    assert await app.jobs.list_jobs() == []


async def test_bad_requests_are_facts(app: Livewell, owner: Database) -> None:
    """Unknown kinds, empty payloads, values that do not fit and a closed queue are each refused with their fact."""
    with pytest.raises(UnknownKind, match="unknown kind nothing_such"):
        await app.enqueue("nothing_such", {"n": 1})
    with pytest.raises(UnknownKind, match="no handler here takes a Other"):
        await app.enqueue(type("Other", (BaseModel,), {})())
    with pytest.raises(EmptyPayload, match="at least one field"):
        await app.enqueue("notification_delivery")
    with pytest.raises(InvalidJob, match="does not fit"):
        await app.enqueue(ReportRequest(month="2026-11"), priority=2**40)
    await owner.fetchval("select livewell.set_setting('queue.enqueue_enabled', 'false', 'test')")
    with pytest.raises(EnqueueDisabled, match=r"queue\.enqueue_enabled"):
        await app.enqueue(ReportRequest(month="2026-11"))
    assert await app.jobs.list_jobs() == []


async def test_kind_without_a_worker_warns_once(app: Livewell) -> None:
    """Queueing a kind that no running worker handles works, and says so once."""
    with captured_logs() as logs:
        answers = [await app.enqueue(ReportRequest(month="2026-11")) for _ in range(3)]
    assert [answer.handled for answer in answers] == [False, False, False]
    assert [entry["event"] for entry in logs] == ["kind_unhandled"]


async def test_a_program_that_uses_the_library_prints_nothing(database_url: str, tmp_path: Path) -> None:
    """Opening it, warning of a kind that nobody handles and running a worker write to neither of its streams."""
    program = tmp_path / "program.py"
    program.write_text(
        "import asyncio, os, signal, sys\n"
        "from livewell import Livewell\n"
        "app = Livewell(sys.argv[1])\n"
        "@app.job('greeting')\n"
        "async def greet(payload: dict) -> None:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "async def main() -> None:\n"
        "    async with app:\n"
        "        await app.enqueue('greeting', {'to': 'you'})\n"
        "        await app.run_worker()\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, program, database_url, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    async with asyncio.timeout(60):
        assert await process.communicate() == (b"", b"")
    assert process.returncode == 0
