"""The course of the demonstration, from the first migration to the account of every job.

Whatever ends it (its time, Ctrl-C, SIGTERM), its processes are ended in order and the account is given. A second
signal cuts it short: the processes are killed.
"""

import asyncio
import os
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from livewell.api import AddressTaken, ApiDoor, ApiServer, DoorOptions
from livewell.app import Livewell
from livewell.demo.account import Account, MarketTally, take_tally
from livewell.demo.errors import DemoBroken
from livewell.demo.jobs import BEFORE_A_REPORT_ENDS, KINDS, LEASE, REPORT
from livewell.demo.live_page import live_page
from livewell.demo.market import Crowd, open_market
from livewell.demo.processes import DemoProcess
from livewell.kernel import (
    DatabaseNewer,
    DatabaseOptions,
    DatabaseTooOld,
    DatabaseUnavailable,
    EmbeddedPostgres,
    MigrationEdited,
    MigrationMissing,
    Step,
    connect,
    masked,
    migrate,
    shown_duration,
    wait_for_any,
)
from livewell.settings import SettingsStore
from livewell.simulator import Simulator

PORT = 8800
_TICK = 0.5
_JITTER = "worker.reclaim_jitter_max"
_KILL_AT = 0.35
_RESTART_AFTER = 1.0
# After the last job was queued: what is waiting, what a killed worker held, and what is in backoff.
_FINISH_LIMIT = 20.0
_START_LIMIT = 60.0
_STEPS = 4
_OF_ANOTHER_VERSION = (DatabaseNewer, DatabaseTooOld, MigrationEdited, MigrationMissing)


class Screen(Protocol):
    """Where the demonstration says what it does."""

    def entitle(self, title: str, hints: Sequence[str] = ()) -> None: ...

    def prepare(self, done: int, of: int, what: str) -> None:
        """Say what is being made ready."""

    def tell(self, line: str) -> None: ...

    def lose(self, reason: str) -> None:
        """Say that the figures could not be read."""


class Watch(Protocol):
    """Reads how things stand, and shows it on the screen."""

    async def look(self) -> int:
        """Show it; answers with how many of the demonstration's jobs are live."""

    async def tally(self, simulator: Simulator) -> MarketTally:
        """What the run came to, by our books and by the provider's."""


# Watches an application on a screen while it is entered; the function tells of a worker's name whether it was killed.
Watching: TypeAlias = Callable[[Livewell, Callable[[str], bool]], AbstractAsyncContextManager[Watch]]


class Stage:
    """One demonstration."""

    def __init__(self, *, seconds: int, database_url: str | None, screen: Screen, watching: Watching) -> None:
        self._seconds = seconds
        self._database_url = database_url
        self._screen = screen
        self._watching = watching
        self._stop = asyncio.Event()
        self._acknowledged: set[int] = set()
        self._kept = 0
        self._victim: int | None = None
        self._there = 0
        self._rescued = 0
        self._rescue_told = False
        self._live = 0
        self._workers: list[DemoProcess] = []
        self._producer: DemoProcess | None = None

    async def play(self) -> Account | None:
        """Run it to its end, and give an account of it; None when it was cut short."""
        me = asyncio.current_task()
        loop = asyncio.get_running_loop()

        def on_signal() -> None:
            if self._stop.is_set() and me is not None:
                me.cancel()
            self._stop.set()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, on_signal)
        try:
            return await self._perform()
        except asyncio.CancelledError:
            return None

    async def _perform(self) -> Account:
        async with AsyncExitStack() as stack:
            url = owner_url = self._database_url
            reader_url = None
            if url is None or owner_url is None:
                self._screen.prepare(1, _STEPS, f"starting a PostgreSQL of its own in {_shown(_folder())}")
                server = await stack.enter_async_context(EmbeddedPostgres(_folder()))
                url, owner_url, reader_url = server.service_url(), server.url(), server.reader_url()
            await self.make_schema(owner_url)
            self._screen.prepare(3, _STEPS, "starting a pretend provider, and declaring six data types of it")
            app = await stack.enter_async_context(Livewell(url, owner_url=owner_url, reader_url=reader_url))
            await stack.enter_async_context(_short_jitter(app))
            simulator = await stack.enter_async_context(open_market(app))
            stack.push_async_callback(self._clear)
            page = await self._open_page(app, stack)
            self._screen.entitle(await self._title(app, simulator.url), self._hints(page))
            watch = await stack.enter_async_context(self._watching(app, self._is_victim))
            await self._run(app, url, watch)
            jobs, market = await take_tally(app.jobs, self._acknowledged), await watch.tally(simulator)
            return Account(market=market, jobs=jobs, duplicates=self._kept)

    async def _open_page(self, app: Livewell, stack: AsyncExitStack) -> str | None:
        """Serve the page of live prices; its address, or none where no login reads for viewers."""
        if app.reader_url is None:
            return None
        options = DoorOptions(port=PORT)
        api = await stack.enter_async_context(app.api(options))
        api.application.include_router(live_page(app))
        server = ApiServer(api.application, options)
        try:
            server.open()
        except AddressTaken:
            server = ApiServer(api.application, replace(options, port=0))
            server.open()
        stop = asyncio.Event()
        serving = asyncio.create_task(ApiDoor(api, server).run(stop))

        async def close() -> None:
            stop.set()
            await serving

        stack.push_async_callback(close)
        return f"{server.address}/live"

    async def make_schema(self, url: str) -> None:
        """Migrate; what another version left in the demonstration's own folder is dropped first."""
        steps = 0

        def on_step(_: Step) -> None:
            nonlocal steps
            steps += 1
            self._screen.prepare(2, _STEPS, f"making the schema: step {steps}")

        self._screen.prepare(2, _STEPS, "making the schema")
        try:
            await migrate(url, on_step=on_step)
        except _OF_ANOTHER_VERSION:
            if self._database_url:
                raise
            self._screen.tell("the last demonstration was of another version: its data is dropped")
            await _drop_all(url)
            await migrate(url, on_step=on_step)

    async def _run(self, app: Livewell, url: str, watch: Watch) -> None:
        crowd = Crowd(app)
        environment = {"DATABASE_URL": url, "LIVEWELL_LOG_FORMAT": "json", "LIVEWELL_LOG_LEVEL": "info"}
        self._screen.prepare(4, _STEPS, "starting two workers, and a producer of other jobs")
        self._workers = [await self._start_worker(environment) for _ in range(2)]
        self._producer = await DemoProcess.start("livewell.demo.producer", environment, self._on_line)
        await self._all_there()
        await crowd.come()
        self._tell(f"{crowd.people} people look at the market")
        began = time.monotonic()
        restart_at = float("inf")
        while not self._stop.is_set() and (passed := time.monotonic() - began) < self._seconds:
            await self._look(app, watch)
            with self._outages_told():
                await crowd.move()
                if self._victim is None and passed >= self._seconds * _KILL_AT and await self._kill_one(app):
                    restart_at = passed + _RESTART_AFTER
            if passed >= restart_at:
                restart_at = float("inf")
                self._workers.append(await self._start_worker(environment))
                self._tell(f"a new worker is started, process {self._workers[-1].pid}")
        await crowd.leave()
        await self._finish(app, watch)

    async def _all_there(self) -> None:
        """The time begins when both workers are there."""
        deadline = time.monotonic() + _START_LIMIT
        while self._there < len(self._workers) and time.monotonic() < deadline and not self._stop.is_set():
            self._fail_on_early_end()
            await wait_for_any(self._stop, timeout=0.05)

    def _fail_on_early_end(self) -> None:
        for process in self._processes():
            if process.exit_code is not None:
                raise DemoBroken(f"process {process.pid} ended by itself with exit code {process.exit_code}")

    async def _look(self, app: Livewell, watch: Watch) -> int:
        """Show how things stand; answer how many jobs are live, as far as is known."""
        self._fail_on_early_end()
        with self._outages_told():
            self._live = await watch.look()
            await self._tell_of_rescue(app)
        await wait_for_any(self._stop, timeout=_TICK)
        return self._live

    @contextmanager
    def _outages_told(self) -> Iterator[None]:
        """A server that is away for a while does not end the demonstration, which says so instead."""
        try:
            yield
        except DatabaseUnavailable as fact:
            self._screen.lose(fact.message)

    async def _kill_one(self, app: Livewell) -> bool:
        """Kill a worker that has begun a long job just now, so that it dies with something in its hands."""
        since = datetime.now(UTC) - BEFORE_A_REPORT_ENDS
        fresh = [job for job in await _running(app) if job["kind"] == REPORT and job["started_at"] > since]
        victim = next((worker for worker in self._workers if any(_is_of(worker.pid, job) for job in fresh)), None)
        if victim is None:
            return False
        self._workers.remove(victim)
        self._victim = victim.pid
        await victim.kill()
        held = [job for job in await _running(app) if _is_of(victim.pid, job)]
        self._tell(
            f"worker process {victim.pid} was killed with SIGKILL, holding {_jobs(len(held))}:"
            f" a lease runs out after {shown_duration(LEASE)}"
        )
        return True

    async def _tell_of_rescue(self, app: Livewell) -> None:
        """Say, once, that the killed worker holds no job any more."""
        if self._victim is None or self._rescue_told or self._rescued == 0:
            return
        if not any(_is_of(self._victim, job) for job in await _running(app)):
            self._rescue_told = True
            self._tell(f"{_jobs(self._rescued)} rescued from the killed worker, for the others to run")

    async def _finish(self, app: Livewell, watch: Watch) -> None:
        """No new jobs; let the workers finish what there is, then end them."""
        if self._producer is not None:
            await self._producer.end()
            self._producer = None
        self._tell("no new jobs; the workers finish what there is")
        self._stop.clear()
        deadline = time.monotonic() + _FINISH_LIMIT
        while await self._look(app, watch) and time.monotonic() < deadline and not self._stop.is_set():
            pass
        await self._clear()

    async def _clear(self) -> None:
        """End every process; called again it finds none."""
        processes = self._processes()
        try:
            await asyncio.gather(*(process.end() for process in processes))
        except asyncio.CancelledError:
            await asyncio.gather(*(process.kill() for process in processes))
            raise
        finally:
            self._workers, self._producer = [], None

    def _processes(self) -> list[DemoProcess]:
        return [*self._workers, *([self._producer] if self._producer else [])]

    async def _start_worker(self, environment: dict[str, str]) -> DemoProcess:
        return await DemoProcess.start("livewell.demo.worker", environment, self._on_line)

    def _on_line(self, line: dict[str, Any]) -> None:
        match line:
            case {"event": "acknowledged", "ids": list(ids), "kept": int(kept)}:
                self._acknowledged.update(ids)
                self._kept += kept
            case {"event": "job_rescued", "worker": str(worker)} if self._is_victim(worker):
                self._rescued += 1
            case {"event": "worker_started", "worker": worker}:
                self._there += 1
                self._tell(f"{worker} is there")
            case {"event": "printed" | "enqueue_refused", "line": str(text)}:
                self._tell(text)
            case {"event": "component_failed" | "agent_failed" as event, "exception": str(text)}:
                self._tell(f"{event}: {text.splitlines()[-1]}")
            case _:
                pass

    def _tell(self, line: str) -> None:
        self._screen.tell(line)

    def _is_victim(self, worker: str) -> bool:
        """A worker's name has the pid of its process in it."""
        return f"-{self._victim}-" in worker

    async def _title(self, app: Livewell, simulator: str) -> str:
        async with app.database.connection() as connection:
            version = connection.get_server_version()
        where = masked("url", self._database_url) if self._database_url else f"embedded, {_shown(_folder())}"
        server = f"PostgreSQL {version.major}.{version.minor} ({where})"
        return f"{server} · pretend provider on {simulator} · {self._seconds} s"

    def _hints(self, page: str | None) -> list[str]:
        if self._database_url:
            first = f"export DATABASE_URL='{masked('url', self._database_url)}'"
        else:
            first = f"export LIVEWELL_DATA={_shown(_folder().parent)}"
        name = _program()
        commands = ("freshness", "viewers", "budgets", "warnings", "jobs stats", "workers", "audit list")
        seen = [] if page is None else [f"Look at it in a browser: {page}"]
        return [
            *seen,
            "Look at it from another terminal:",
            f"  {first}",
            *(f"  {name} {command}" for command in commands),
        ]


async def _running(app: Livewell) -> list[dict[str, Any]]:
    return await app.jobs.list_jobs(states=["processing"], kinds=KINDS, limit=1000)


def _is_of(pid: int, job: dict[str, Any]) -> bool:
    """A worker's name has the pid of its process in it."""
    return f"-{pid}-" in str(job["worker"])


def _jobs(number: int) -> str:
    return "1 job" if number == 1 else f"{number:,} jobs"


async def _drop_all(url: str) -> None:
    connection = await connect(DatabaseOptions(url=url))
    try:
        await connection.execute("drop schema if exists livewell, livewell_private, livewell_demo cascade")
    finally:
        await connection.close()


def _folder() -> Path:
    """A folder of the demonstration's own, beside the project's."""
    return Path(os.environ.get("LIVEWELL_DATA") or ".livewell").resolve() / "demo" / "pg"


def _program() -> str:
    """How to call Livewell from the folder we are in."""
    if shutil.which("livewell"):
        return "livewell"
    program = Path(sys.argv[0]).absolute()
    return "python -m livewell.cli" if program.name == "__main__.py" else _shown(program)


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


@asynccontextmanager
async def _short_jitter(app: Livewell) -> AsyncIterator[None]:
    """Rescued jobs run again soon, for the length of the demonstration."""
    store = SettingsStore(app.database)
    before = next(row.value for row in await store.list_settings() if row.name == _JITTER)
    await store.set_setting(_JITTER, timedelta(milliseconds=500), actor="demo", reason="rescues are to be seen soon")
    try:
        yield
    finally:
        await store.set_setting(_JITTER, before, actor="demo", reason="the demonstration is over")
