"""A worker: feeder, runner, finisher and heartbeater around the leased jobs, as a component of a service.

Claiming, finishing and heartbeats each have a connection of their own, so that none waits for another or for a
handler. Draining: nothing new is claimed, what has not started is given back, what runs is let finish, and the
worker says goodbye. Cut off, it stops what runs and gives everything back that has no outcome, as long as the database
answers within a moment; what it cannot give back is rescued when its lease has run out.

Events: `worker_started`, `worker_serves`, `worker_draining`, `worker_stopped`, `worker_cut`, `kinds_not_read`,
`goodbye_failed`, `leases_not_given_back`.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from livewell.budgets import KeyRing
from livewell.fetching import FetchStore
from livewell.jobs import CANCEL_CHANNEL, JOBS_CHANNEL, JobStore, Kind, Outcome, PayloadChecker, Reset, Spent
from livewell.kernel import Database, LeaseKeeper, LivewellError, Logger, wait_for_any
from livewell.registry import TYPES_CHANNEL
from livewell.settings import SettingsWatcher
from livewell.worker.errors import NothingToServe
from livewell.worker.feeder import Feeder
from livewell.worker.finisher import Finisher, JobEnds
from livewell.worker.handlers import Handler
from livewell.worker.heartbeater import Heartbeater
from livewell.worker.leased_jobs import LeasedJob, LeasedJobs, Stop
from livewell.worker.off_loop import OffLoop
from livewell.worker.refreshing import Refreshed, RefreshEnds, Refresher, given_up
from livewell.worker.runner import Runner

log = Logger("livewell.worker")

# How long a worker that is cut off may take to give its jobs back.
GIVE_BACK_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """What one worker serves and how much at once; what is None comes from the settings, and follows their changes.

    A patient worker waits until there is something to serve; others refuse to start. Handlers beside the loop have
    as many threads as there are slots and as many processes as cores, unless said otherwise.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    kinds: Sequence[str] | None = None
    concurrency: int | None = None
    threads: int | None = None
    processes: int | None = None
    claim_batch: int | None = None
    poll_interval: timedelta | None = None
    heartbeat_interval: timedelta | None = None
    kinds_interval: timedelta = timedelta(seconds=30)
    patient: bool = False


class Worker:
    """Runs the jobs of its kinds until stopped."""

    name = "worker"

    def __init__(
        self,
        database: Database,
        handlers: Sequence[Handler],
        settings: SettingsWatcher,
        options: WorkerOptions,
        refresher: Refresher | None = None,
        *,
        keys: KeyRing | None = None,
    ) -> None:
        self.id = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._database = database
        self._settings = settings
        self._options = options
        self._handlers = {
            handler.kind: handler for handler in handlers if options.kinds is None or handler.kind in options.kinds
        }
        self._declared = [handler.kind for handler in handlers]
        self._refresher = refresher
        self._keys = keys
        self._claiming, self._finishing, self._storing, self._beating = (database.line() for _ in range(4))
        self._parts: _Parts | None = None
        self._types_changed = asyncio.Event()
        self.started = asyncio.Event()

    @property
    def idle(self) -> asyncio.Event | None:
        """Set while the worker waits for something to do."""
        return self._parts.feeder.idle if self._parts else None

    async def check(self) -> None:
        """Raise `NothingToServe` before anything runs, when what was asked for has no handler here."""
        await self._follow_types()
        missing = sorted(set(self._options.kinds or ()) - set(self._declared))
        if missing:
            raise NothingToServe(
                f"no handler here for {', '.join(missing)}",
                fix=f"the declared kinds are: {', '.join(sorted(self._declared)) or 'none'}",
            )
        self._shares(await JobStore(self._database).list_kinds(list(self._handlers)))

    async def run(self, stop: asyncio.Event) -> None:
        store = JobStore(self._database)
        kinds = await self._known_kinds(store)
        shares = self._shares(kinds)
        served = [kind for kind in kinds if kind.queue_group in shares]
        slots = self._options.concurrency or self._settings.current.worker_concurrency
        await asyncio.gather(
            store.register_worker(self.id, list(shares), [kind.kind for kind in served], slots),
            self._claiming.open(),
            self._finishing.open(),
            *([self._storing.open()] if self._refresher else []),
        )
        off_loop = OffLoop(
            threads=self._options.threads or slots, processes=self._options.processes or os.cpu_count() or 1
        )
        self._handlers |= {kind: off_loop.taken(handler) for kind, handler in self._handlers.items()}
        self._parts = parts = self._build(LeasedJobs(slots), shares, served, PayloadChecker(store))
        parts.runner.follow(kinds)
        log.info("worker_started", worker=self.id, groups=shares, kinds=[kind.kind for kind in served], slots=slots)
        self.started.set()
        try:
            await self._run_parts(stop, parts)
        except asyncio.CancelledError:
            off_loop.close()
            await self._give_back(store, parts)
            raise
        finally:
            off_loop.close()
        await self._say_goodbye(store)

    async def _give_back(self, store: JobStore, parts: "_Parts") -> None:
        """Give back what was cut off, and tell how the rest ended, if that is possible within a moment."""
        told = parts.finisher.unsent() | parts.storer.unsent()
        cut = [leased for leased in parts.jobs if leased not in told and leased.stop is not Stop.LOST]
        for leased in cut:
            if not leased.started and leased.job.endpoint:
                leased.spent = Spent(sent=False)
            parts.finisher.add(leased, Reset("the worker was cut off"))
        try:
            async with asyncio.timeout(GIVE_BACK_SECONDS):
                # The storer hands to the finisher what it cannot store.
                await parts.storer.send_rest()
                await parts.finisher.send_rest()
                await self._say_goodbye(store)
            log.info("worker_cut", worker=self.id, given_back=len(cut))
        except TimeoutError:
            log.warning("leases_not_given_back", worker=self.id, held=len(parts.jobs))

    async def _known_kinds(self, store: JobStore) -> list[Kind]:
        """The kinds of the handlers, made known first where the application has not done it."""
        kinds = await store.list_kinds(list(self._handlers))
        schemas = {kind.kind: kind.payload_schema for kind in kinds}
        declarations = [handler.declaration for handler in self._handlers.values()]
        if all(
            declared.kind in schemas and declared.payload_schema in (None, schemas[declared.kind])
            for declared in declarations
        ):
            return kinds
        await store.declare_kinds(declarations, actor=self.id)
        return await store.list_kinds(list(self._handlers))

    def _build(
        self, jobs: LeasedJobs, shares: dict[str, float], kinds: Sequence[Kind], checker: PayloadChecker
    ) -> "_Parts":
        finisher: Finisher[Outcome] = Finisher(JobEnds(JobStore(self._finishing)), jobs.forget)

        def give_up(leased: LeasedJob, outcome: Refreshed) -> None:
            """Somebody has locked what it would write: tell what it spent, and fetch it again later."""
            leased.spent, instead = given_up(outcome)
            finisher.add(leased, instead)

        storer: Finisher[Refreshed] = Finisher(RefreshEnds(FetchStore(self._storing)), jobs.forget, give_up)

        def on_end(leased: LeasedJob, outcome: Outcome | Refreshed) -> None:
            if isinstance(outcome, Refreshed):
                storer.add(leased, outcome)
            else:
                finisher.add(leased, outcome)

        runner = Runner(
            jobs,
            self._handlers,
            on_end,
            worker=self.id,
            checker=checker,
            keys=self._keys,
        )
        heartbeater = Heartbeater(JobStore(self._beating), jobs, worker=self.id)
        keeper = LeaseKeeper(heartbeater, every=self._heartbeat_interval)
        feeder = Feeder(
            JobStore(self._claiming),
            jobs,
            worker=self.id,
            shares=shares,
            kinds=[kind.kind for kind in kinds],
            claim_batch=self._claim_batch,
            poll_interval=self._poll_interval,
            mean_seconds=lambda: runner.mean_seconds,
        )
        return _Parts(jobs=jobs, feeder=feeder, runner=runner, finisher=finisher, storer=storer, keeper=keeper)

    async def _run_parts(self, stop: asyncio.Event, parts: "_Parts") -> None:
        """Stop the parts in the order in which work leaves the worker: feeder, slots, storer, finisher, heartbeats."""
        slots_stop, storer_stop, finisher_stop, beats_stop = (asyncio.Event() for _ in range(4))
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(self._follow_kinds(parts))
            beats = tasks.create_task(parts.keeper.run(beats_stop))
            finishing = tasks.create_task(parts.finisher.run(finisher_stop))
            storing = tasks.create_task(parts.storer.run(storer_stop))
            slots = tasks.create_task(parts.runner.run(slots_stop))
            feeding = tasks.create_task(parts.feeder.run(stop))
            await stop.wait()
            following.cancel()
            if self._refresher is not None:
                self._refresher.hurry.set()
            parts.feeder.rouse()
            await feeding
            log.info("worker_draining", worker=self.id, running=parts.jobs.running, given_back=parts.jobs.waiting)
            for leased in parts.jobs.give_back():
                leased.spent = Spent(sent=False) if leased.job.endpoint else None
                parts.finisher.add(leased, Reset("the worker was drained before it started"))
            slots_stop.set()
            await slots
            storer_stop.set()
            parts.storer.rouse()
            await storing
            finisher_stop.set()
            parts.finisher.rouse()
            await finishing
            beats_stop.set()
            await beats

    async def _follow_kinds(self, parts: "_Parts") -> None:
        """Kinds and types are data: what was tuned or declared applies here too, after a while."""
        store = JobStore(self._database)
        while True:
            await wait_for_any(self._types_changed, timeout=self._options.kinds_interval.total_seconds())
            self._types_changed.clear()
            try:
                before = set(self._handlers)
                await self._follow_types()
                kinds = await store.list_kinds(list(self._handlers))
                parts.runner.follow(kinds)
                if set(self._handlers) != before:
                    await self._serve(store, kinds, parts)
            except LivewellError as error:
                log.warning("kinds_not_read", worker=self.id, error=str(error))

    async def _follow_types(self) -> None:
        """Take up types that are new here; one that is gone has no jobs, so its handler may stay."""
        if self._refresher is None:
            return
        for kind, handler in (await self._refresher.follow()).items():
            self._declared = sorted({*self._declared, kind})
            if self._options.kinds is None or kind in self._options.kinds:
                self._handlers[kind] = handler

    async def _serve(self, store: JobStore, kinds: Sequence[Kind], parts: "_Parts") -> None:
        shares = self._shares(kinds)
        served = [kind.kind for kind in kinds if kind.queue_group in shares]
        await store.register_worker(self.id, list(shares), served, parts.jobs.slots)
        parts.feeder.serve(shares, served)
        log.info("worker_serves", worker=self.id, groups=shares, kinds=served)

    async def _say_goodbye(self, store: JobStore) -> None:
        try:
            await store.retire_workers(self.id)
        except LivewellError as error:
            log.warning("goodbye_failed", worker=self.id, error=str(error))
        log.info("worker_stopped", worker=self.id)

    def on_notify(self, channel: str, payload: str) -> None:
        """What a listener calls: a job came in for a group, or a job of this worker is to be cancelled."""
        if self._parts is None:
            return
        if channel == JOBS_CHANNEL:
            self._parts.feeder.rouse()
        elif channel == TYPES_CHANNEL:
            self._types_changed.set()
        elif channel == CANCEL_CHANNEL and payload == self.id:
            self._parts.keeper.renew_now()

    def on_reconnect(self) -> None:
        """Something may have been told while nobody listened."""
        if self._parts is not None:
            self._parts.feeder.rouse()
            self._parts.keeper.renew_now()
            self._types_changed.set()

    def _shares(self, kinds: Sequence[Kind]) -> dict[str, float]:
        """The groups to serve: those asked for, or every group one of the kinds belongs to, with equal shares."""
        groups = sorted({kind.queue_group for kind in kinds})
        shares = dict(self._options.shares) or dict.fromkeys(groups, 1.0)
        if not set(shares) & set(groups) and not self._options.patient:
            raise NothingToServe(
                f"no handler here serves {', '.join(shares) or 'anything'}",
                fix=f"the groups of the declared kinds are: {', '.join(groups) or 'none'}",
            )
        return shares

    def _claim_batch(self) -> int:
        return self._options.claim_batch or self._settings.current.worker_claim_batch

    def _poll_interval(self) -> timedelta:
        return self._options.poll_interval or self._settings.current.worker_poll_interval

    def _heartbeat_interval(self) -> timedelta:
        return self._options.heartbeat_interval or self._settings.current.worker_heartbeat_interval


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """The parts of a running worker."""

    jobs: LeasedJobs
    feeder: Feeder
    runner: Runner
    finisher: Finisher[Outcome]
    storer: Finisher[Refreshed]
    keeper: LeaseKeeper[LeasedJob]
