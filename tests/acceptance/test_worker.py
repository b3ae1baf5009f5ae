"""`livewell worker` as a supervisor runs it: a module of the user's, jobs, signals, metrics."""

import asyncio
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TextIO
from urllib.request import urlopen

import pytest

from livewell.jobs import JobRequest, JobStore
from livewell.kernel import Database
from livewell.testing import until
from tests.acceptance.command import Cli

PROGRAM = """
import asyncio
from pathlib import Path
from pydantic import BaseModel
from livewell import JobContext, Livewell

app = Livewell()

class Greeting(BaseModel):
    name: str

class Wait(BaseModel):
    until: str

@app.job("greet")
async def greet(job: Greeting, ctx: JobContext) -> dict[str, str]:
    return {"said": f"Hello, {job.name}!"}

@app.job("wait", group="slow")
async def wait(job: Wait) -> None:
    Path("began").touch()
    while not Path(job.until).exists():
        await asyncio.sleep(0.01)
"""


@pytest.fixture
def program(cli: Cli) -> Path:
    path = cli.folder / "greetings.py"
    path.write_text(PROGRAM)
    return path


async def _enqueue(database: Database, kind: str, **payload: str) -> int:
    (queued,) = await JobStore(database).enqueue_jobs([JobRequest(kind=kind, payload=payload)])
    return queued.job_id


async def _state(store: JobStore, job_id: int) -> str:
    return str((await store.show_job(job_id))["state"])


async def test_a_job_queued_by_command_is_run_by_a_worker(cli: Cli, program: Path, database: Database) -> None:
    """From an empty database to a result: the module is found, the job runs, the worker ends with 0 on SIGTERM."""
    async with cli.running("worker", "greetings:app", "--concurrency", 2) as worker:
        await worker.event("worker_started")
        queued = await cli("jobs", "enqueue", "greet", '{"name": "Ada"}', "--json")
        assert (queued.json["handled"], queued.err) == (True, "")
        assert (await cli("jobs", "drain", "--timeout", "30s")).out.endswith("0 left\n")
        shown = (await cli("jobs", "show", queued.json["job_id"], "--json")).json
        assert (shown["state"], shown["result"]) == ("completed", {"said": "Hello, Ada!"})
        worker.send(signal.SIGTERM)
        assert await worker.ended() == 0
    assert await JobStore(database).list_workers() == []


async def test_sigterm_lets_a_running_job_finish(cli: Cli, program: Path, database: Database) -> None:
    """After SIGTERM the worker waits for its handler, the job is completed, and the exit code is 0."""
    async with cli.running("worker", "greetings:app") as worker:
        await worker.event("worker_started")
        job_id = await _enqueue(database, "wait", until="done")
        await until(_exists(cli.folder / "began"), "the handler runs")
        worker.send(signal.SIGTERM)
        draining = await worker.event("worker_draining")
        assert draining["running"] == 1
        (cli.folder / "done").touch()
        assert await worker.ended() == 0
    assert await _state(JobStore(database), job_id) == "completed"


async def test_a_second_sigterm_stops_at_once(cli: Cli, program: Path, database: Database) -> None:
    """A handler that never ends does not outlive a second SIGTERM; the exit code says so and the job is given back."""
    async with cli.running("worker", "greetings:app") as worker:
        await worker.event("worker_started")
        job_id = await _enqueue(database, "wait", until="never")
        await until(_exists(cli.folder / "began"), "the handler runs")
        worker.send(signal.SIGTERM)
        await worker.event("worker_draining")
        worker.send(signal.SIGTERM)
        assert await worker.ended() == 128 + signal.SIGTERM
    assert await _state(JobStore(database), job_id) == "pending"


async def test_a_worker_nobody_listens_to_still_drains(cli: Cli, program: Path) -> None:
    """When the reader of its log has gone, a worker works on and ends with 0 on SIGTERM."""
    reading, writing = os.pipe()
    async with cli.running("worker", "greetings:app", stderr=writing) as worker:
        os.close(writing)
        with os.fdopen(reading) as log:
            await asyncio.to_thread(_read_until, log, "worker_started")
        worker.send(signal.SIGTERM)
        assert await worker.ended() == 0


async def test_groups_and_kinds_narrow_a_worker(cli: Cli, program: Path) -> None:
    """Only the kinds of the groups asked for are served; one without a handler is refused at the start."""
    async with cli.running("worker", "greetings:app", "--group", "slow=2") as worker:
        started = await worker.event("worker_started")
        assert (started["groups"], started["kinds"]) == ({"slow": 2.0}, ["wait"])
    for args, told in [
        (("--group", "fast"), "the groups of the declared kinds are: general, slow) [worker.nothing_to_serve]"),
        (("--kind", "great"), "the declared kinds are: greet, wait) [worker.nothing_to_serve]"),
    ]:
        refused = await cli("worker", "greetings:app", *args, code=1)
        assert refused.err.endswith(f"{told}\n"), refused


async def test_a_worker_that_cannot_start_says_why(cli: Cli, program: Path) -> None:
    """Modules and objects that are not there, or broken, are one line that names the place."""
    (cli.folder / "broken.py").write_text("import nothing_of_the_kind\n")
    (cli.folder / "wrong.py").write_text("app = (\n")
    taken = socket.create_server(("127.0.0.1", 0))
    for args, told in [
        (("nowhere:app",), "there is no module 'nowhere'"),
        (("greetings:ap",), "(did you mean greetings:app?)"),
        (("broken:app",), "broken.py:1: ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        (("wrong:app",), "wrong.py:1: SyntaxError"),
        (("greetings:app", "--listen", f"127.0.0.1:{taken.getsockname()[1]}"), "cannot serve on 127.0.0.1"),
    ]:
        refused = await cli("worker", *args, code=1)
        assert told in refused.err, refused
        assert refused.err.count("\n") == 1, refused
    taken.close()


async def test_metrics_are_served_to_this_machine(cli: Cli, program: Path, database: Database) -> None:
    """Prometheus finds the counters of a finished job on the port the worker names."""
    async with cli.running("worker", "greetings:app", "--listen", "127.0.0.1:0") as worker:
        address = (await worker.event("api_served"))["address"]
        await worker.event("worker_started")
        await _enqueue(database, "greet", name="Ada")

        async def counted() -> bool:
            return 'livewell_jobs_finished_total{kind="greet",state="completed"} 1.0' in await _scrape(address)

        await until(counted, "the finished job is counted")
        text = await _scrape(address)
        for name in (
            "claim_seconds_bucket",
            "finish_seconds_count",
            "job_run_seconds_sum",
            "jobs_claimed_total",
            "workers",
        ):
            assert f"livewell_{name}" in text


async def test_a_typed_database_is_used_whatever_the_module_says(
    cli: Cli, program: Path, database_url: str, database: Database
) -> None:
    """`--database-url` wins over an address written into the application."""
    program.write_text(PROGRAM.replace("Livewell()", 'Livewell("postgresql://nobody@127.0.0.1:1/nothing")'))
    async with cli.running("--database-url", database_url, "worker", "greetings:app") as worker:
        await worker.event("worker_started")
    assert len(await JobStore(database).list_workers()) == 1


def _read_until(log: TextIO, event: str) -> None:
    next(line for line in log if event in line)


def _exists(path: Path) -> Callable[[], Awaitable[bool]]:
    async def there() -> bool:
        return path.exists()

    return there


async def _scrape(address: str) -> str:
    def read() -> str:
        with urlopen(f"{address}/metrics", timeout=10) as answer:  # noqa: S310 - an address of this machine
            return str(answer.read().decode())

    return await asyncio.to_thread(read)
