"""A run: real worker and producer processes on a real database, a harness that hurts them, and a judgement at the end.

The harness notes what it does in a notebook of its own. A run ends with `settle()`: producers stop, everything that is
queued must be done within twice the lease (and the time of the longest job), workers drain, and the history is judged
against the database.
"""

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from pydantic_core import to_json

from livewell.kernel import Database, DatabaseOptions, LivewellError
from livewell.testing import until
from tests.faults.beside import beside
from tests.faults.history import Event, HistoryReader, Notebook
from tests.faults.invariants import Terms, Violation, judge
from tests.faults.plan import CAP, HEARTBEAT, LEASE, LONGEST_JOB, RECLAIM_JITTER, VARIABLE, Plan
from tests.faults.snapshot import Snapshot, read_snapshot

ROOT = Path(__file__).resolve().parents[2]
QUIET = 2 * LEASE + LONGEST_JOB
MIX: Mapping[str, float] = {"quick": 4, "slow": 3, "long": 0.3, "flaky": 2, "serial": 2, "capped": 2}

_SETTINGS = {
    "worker.heartbeat_interval": HEARTBEAT,
    "worker.timeout": LEASE,
    "worker.reclaim_jitter_max": RECLAIM_JITTER,
}
_START = timedelta(seconds=30)
_END = timedelta(seconds=20)
_LOOK_EVERY = 0.3
_OWN_CONNECT = timedelta(seconds=2)
_OWN_STATEMENT = timedelta(seconds=5)


@dataclass(kw_only=True)
class Member:
    """One process of a run."""

    name: str
    process: asyncio.subprocess.Process

    @property
    def alive(self) -> bool:
        return self.process.returncode is None


@dataclass(kw_only=True)
class Run:
    """The processes of one run, what is done to them, and what becomes of it."""

    owner: Database
    url: str
    folder: Path
    seed: str
    terms: Terms = field(default_factory=lambda: Terms(caps={"capped": CAP}))
    chance: random.Random = field(init=False)
    book: Notebook = field(init=False)
    reader: HistoryReader = field(init=False)
    workers: dict[str, Member] = field(default_factory=dict)
    producers: dict[str, Member] = field(default_factory=dict)
    others: dict[str, Member] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.book = Notebook(self.folder, "harness")
        self.reader = HistoryReader(self.folder)

    async def prepare(self, settings: Mapping[str, timedelta] | None = None) -> None:
        """Short leases, so that a run need not last long."""
        for name, value in {**_SETTINGS, **(settings or {})}.items():
            text = f"{value.total_seconds()} seconds"
            await self.owner.execute("select livewell.set_setting($1, $2, 'harness', 'fault run')", name, text)

    async def start_worker(
        self, *, program: str = "worker", environment: Mapping[str, str] | None = None, **plan: Any
    ) -> Member:
        worker = await self.start(program, environment, plan)
        self.workers[worker.name] = worker
        return worker

    async def start_workers(self, number: int, **plan: Any) -> list[Member]:
        """Start workers, and wait until each has renewed its leases for the first time."""
        started = [await self.start_worker(**plan) for _ in range(number)]
        await self.at_work(started)
        return started

    async def at_work(self, workers: Sequence[Member]) -> None:
        """Wait until these workers have renewed their leases for the first time."""

        async def all_beat() -> bool:
            gone = [member.name for member in workers if not member.alive]
            assert not gone, f"{gone} ended at once:\n{self.log_of(gone[0])}"
            return {member.name for member in workers} <= {event.by for event in self.events("beat_answered")}

        await until(all_beat, "all workers work", within=_START)

    async def start_producer(self, *, rate: float = 40, mix: Mapping[str, float] = MIX, **plan: Any) -> Member:
        producer = await self.start("producer", None, {"rate": rate, "mix": dict(mix), **plan})
        self.producers[producer.name] = producer
        await self.seen("producing", by=producer.name)
        return producer

    async def enqueue(self, kind: str, *payloads: Mapping[str, Any], **fields: Any) -> list[int]:
        """Queue jobs as the harness itself; they count as acknowledged."""
        jobs = to_json([{"kind": kind, "payload": payload, **fields} for payload in payloads]).decode()
        rows = await self.owner.fetch("select job_id, outcome from livewell.enqueue_jobs($1::text::jsonb)", jobs)
        for row in rows:
            self.book.note("acknowledged", job=row["job_id"], key=None, kind=kind, outcome=row["outcome"])
        return [row["job_id"] for row in rows]

    async def kill(self, member: Member) -> None:
        """Kill -9; its death is noted before it can have any consequence."""
        self.book.note("killed", process=member.name)
        member.process.kill()
        await member.process.wait()

    def pause(self, member: Member) -> None:
        self.book.note("paused", process=member.name)
        member.process.send_signal(signal.SIGSTOP)

    def resume(self, member: Member) -> None:
        member.process.send_signal(signal.SIGCONT)
        self.book.note("resumed", process=member.name)

    def living(self) -> list[Member]:
        """Workers that run; one that has just killed itself does not, even if nobody has told us yet."""
        dead = {event["process"] for event in self.events("killed")}
        return [member for member in self.workers.values() if member.alive and member.name not in dead]

    def events(self, *what: str) -> list[Event]:
        return self.reader.events(*what)

    def busy(self) -> list[Member]:
        """Living workers in the middle of some job."""
        running = {(event.by, event["job"]) for event in self.events("started")}
        running -= {(event.by, event["job"]) for event in self.events("ended", "raised", "stopped")}
        names = {name for name, _ in running}
        return [member for member in self.living() if member.name in names]

    async def someone_busy(self) -> Member:
        """A worker in the middle of some job, as soon as there is one."""
        busy: list[Member] = []

        async def found() -> bool:
            busy[:] = self.busy()
            return bool(busy)

        await until(found, "a worker is in the middle of a job", within=_START)
        return self.chance.choice(busy)

    async def seen(
        self, what: str, number: int = 1, *, by: str | None = None, within: timedelta = _START
    ) -> list[Event]:
        """Wait until so many such events were noted; the events."""

        def found() -> list[Event]:
            return [event for event in self.events(what) if by in (None, event.by)]

        async def enough() -> bool:
            return len(found()) >= number

        await until(enough, f"{number} × {what}", within=within)
        return found()

    async def drain(self, *states: str) -> None:
        """Cancel what waits, or is in these states, until nothing is there: what runs comes to its end, or back."""
        cancelled = list(states or ("pending",))

        async def drained() -> bool:
            await self.owner.execute(
                "select livewell.cancel_jobs(array(select id from livewell_private.job_live where state = any"
                " ($1)), 'over')",
                cancelled,
            )
            return not await self.owner.fetchval("select exists (select from livewell_private.job_live)")

        await until(drained, "nothing is queued or runs", within=3 * LEASE + timedelta(seconds=5))

    async def settle(self, *, within: timedelta = QUIET) -> list[Violation]:
        """Stop the producers, let everything be done, drain the workers, and judge."""
        await self.at_work(self.living())
        await self._stop(self.producers)
        quiet_since = time.monotonic()
        with suppress(AssertionError):  # what is not done by then is for the judge to name
            await until(self._is_done, "everything queued is done", within=within)
        self.figures["seconds until quiet"] = round(time.monotonic() - quiet_since, 1)
        await self._stop(self.workers)
        snapshot = await self.snapshot()
        history = self.events()
        self._count(history, snapshot)
        return [*judge(history, snapshot, self.terms), *self._crashed_parts()]

    async def passes(self, *, within: timedelta = QUIET) -> None:
        """Settle, and fail with what was violated."""
        found = await self.settle(within=within)
        assert not found, f"seed {self.seed}: {len(found)} violations\n" + "\n".join(map(str, found[:20]))

    async def passes_but_for_the_living(self) -> None:
        """As `passes`; on a machine of few cores, whether somebody alive was taken for dead is only told."""
        found = await self.settle()
        self.figures["taken from the living"] = sum(finding.invariant == "live" for finding in found)
        wrong = [finding for finding in found if finding.invariant != "live"]
        assert not wrong, f"seed {self.seed}: {len(wrong)} violations\n" + "\n".join(map(str, wrong[:20]))

    async def snapshot(self) -> Snapshot:
        return await read_snapshot(self.owner, clock_offset=time.time() - time.monotonic())

    def log_of(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    async def end(self) -> None:
        """Leave no process behind, whatever happened."""
        for member in [*self.workers.values(), *self.producers.values(), *self.others.values()]:
            if member.alive:
                member.process.kill()
                await member.process.wait()
        self.book.close()

    async def watch(self) -> None:
        """Note finished jobs as they are seen, so that one that changes later is found out."""
        since = datetime.fromtimestamp(0).astimezone()
        noted: set[int] = set()
        while True:
            with suppress(LivewellError):
                rows = await self.owner.fetch(
                    "select id, state, attempt, finished_at from livewell_private.job"
                    " where finished_at >= $1 and state in ('completed', 'failed', 'cancelled') order by finished_at",
                    since - timedelta(seconds=10),
                )
                for row in rows:
                    if row["id"] not in noted:
                        noted.add(row["id"])
                        self.book.note(
                            "seen",
                            job=row["id"],
                            state=row["state"],
                            attempt=row["attempt"],
                            finished_at=str(row["finished_at"]),
                        )
                    since = max(since, row["finished_at"])
            await asyncio.sleep(_LOOK_EVERY)

    async def _is_done(self) -> bool:
        with suppress(LivewellError):
            return not await self.owner.fetchval("select exists (select from livewell_private.job_live)")
        return False

    async def start(self, program: str, environment: Mapping[str, str] | None, plan: Mapping[str, Any]) -> Member:
        """A process that runs a program of this folder."""
        self._names[program] = self._names.get(program, 0) + 1
        name = f"{program}-{self._names[program]}"
        told = Plan.model_validate({"folder": self.folder, "name": name, "seed": self.seed, "url": self.url, **plan})
        with (self.folder / f"{name}.log").open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                f"tests.faults.{program}_program",
                stdout=log,
                stderr=log,
                cwd=ROOT,
                env={**self._environment(), **(environment or {}), VARIABLE: told.model_dump_json()},
            )
        return Member(name=name, process=process)

    def _environment(self) -> dict[str, str]:
        """Processes are started by the dozen; what they import is compiled once for all runs of a session."""
        shared = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {**shared, "PYTHONPYCACHEPREFIX": str(self.folder.parent.parent / "compiled")}

    async def _stop(self, members: Mapping[str, Member]) -> None:
        """Ask to end, as an operator does; whoever does not end by itself has failed."""
        dead = {event["process"] for event in self.events("killed")}
        alive = [member for member in members.values() if member.alive and member.name not in dead]
        for member in alive:
            member.process.terminate()
        for member in alive:
            try:
                async with asyncio.timeout(_END.total_seconds()):
                    code = await member.process.wait()
            except TimeoutError:
                raise AssertionError(f"{member.name} does not end:\n{self.log_of(member.name)[-3000:]}") from None
            assert code == 0, f"{member.name} ended with {code}:\n{self.log_of(member.name)[-3000:]}"

    def _crashed_parts(self) -> list[Violation]:
        """A worker goes on whatever happens: none of its parts may fail as a whole."""
        return [
            Violation(invariant="worker", detail=f"{name}: …{line[-1200:]}")
            for name in self.workers
            for line in self.log_of(name).splitlines()
            if '"component_failed"' in line
        ]

    def _count(self, history: Sequence[Event], snapshot: Snapshot) -> None:
        self.figures |= {
            "jobs": len(snapshot.jobs),
            "rescues": len(snapshot.rescues()),
            "acknowledged": len({event["job"] for event in history if event.what == "acknowledged"}),
            "failed calls": sum(event.what == "call_failed" for event in history),
        }


class BeginRun(Protocol):
    """Begins a run on a database."""

    def __call__(self, *, owner_url: str, url: str) -> AbstractAsyncContextManager[Run]: ...


@asynccontextmanager
async def run_on(*, owner_url: str, url: str, folder: Path, seed: str) -> AsyncIterator[Run]:
    """A run on a database, with its settings made; every process of it is gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    options = DatabaseOptions(url=owner_url, connect_timeout=_OWN_CONNECT, statement_timeout=_OWN_STATEMENT)
    async with await Database.open(options) as owner:
        run = Run(owner=owner, url=url, folder=folder, seed=seed)
        await run.prepare()
        try:
            async with beside(run.watch()):
                yield run
        finally:
            await run.end()
