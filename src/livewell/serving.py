"""What an application runs: workers and schedulers, each with the listener, settings and gauges it needs beside it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta

import livewell.access
import livewell.api
import livewell.live
from livewell.audit import tell_sealed
from livewell.budgets import BudgetGauges, BudgetStore, KeyRing, KeySources
from livewell.declared import Declared, FetcherClass
from livewell.fetching import Client, Fetching, FetchStore, SourceBook
from livewell.freshness import FreshnessGauges
from livewell.jobs import (
    CANCEL_CHANNEL,
    JOBS_CHANNEL,
    QueueGauges,
    make_partitions,
    tell_partitions,
    tell_rescued,
    tell_retention,
)
from livewell.kernel import LONGEST_PAUSE, Component, Listener, LivewellError, Logger, Service, ServiceOptions
from livewell.presence import PresenceGauges, tell_recounted, tell_swept
from livewell.registry import TYPES_CHANNEL, CalendarKeeper
from livewell.schedule import CHANNEL as TASKS_CHANNEL
from livewell.schedule import (
    RunAnswer,
    Scheduler,
    TaskDeclaration,
    TaskGauges,
    TaskHandler,
    TaskLeases,
    TaskRunner,
    task_handler_of,
    this_node,
)
from livewell.settings import CHANNEL as SETTINGS_CHANNEL
from livewell.settings import Settings, SettingsWatcher
from livewell.stores import Stores
from livewell.worker import Refresher, Worker, WorkerOptions

log = Logger("livewell.app")

# A worker claims first; counting begins within this time.
FIRST_ROUNDS = timedelta(seconds=1)
MARKET_CALENDAR = "market_calendar"
# What the shipped tasks answer is told by the room each belongs to.
TELLERS = {
    "rescue": tell_rescued,
    "job_partitions": tell_partitions,
    "job_retention": tell_retention,
    "brief_retention": tell_retention,
    "audit_seal": tell_sealed,
    "presence_sweep": tell_swept,
    "presence_recount": tell_recounted,
}


class Serving(Declared, Stores):
    """Runs the kinds, tasks and types declared here, on an open database."""

    @property
    def reader_url(self) -> str | None:
        """Where reads for viewers log in, if anywhere."""
        return None

    def __init__(self, key_sources: KeySources | None) -> None:
        super().__init__()
        self.key_sources = key_sources or KeySources.from_environment()
        self._client: Client | None = None

    def _own_fetchers(self) -> Mapping[str, FetcherClass]:
        return self._fetchers

    def worker(self, settings: SettingsWatcher, options: WorkerOptions | None = None) -> Worker:
        """A worker for the kinds declared here, to be run by a service of one's own."""
        self._client = self._client or Client()
        sources = SourceBook(self.database, self._fetchers)
        refresher = Refresher(
            Fetching(self._client), FetchStore(self.database), BudgetStore(self.database), sources.read
        )
        return Worker(
            self.database,
            list(self._handlers.values()),
            settings,
            options or WorkerOptions(),
            refresher,
            keys=KeyRing(sources=self.key_sources),
        )

    @asynccontextmanager
    async def api(self, options: "livewell.api.DoorOptions | None" = None) -> "AsyncIterator[livewell.api.Api]":
        """The ASGI application of this database, to be served, or mounted in an application of one's own.

        Its gateway takes clients inside `async with`: a mounted application's own lifespan is never run.
        """
        options = options or livewell.api.DoorOptions()
        settings = await Settings.read(self.database)
        async with livewell.access.Readers.open(self.database, self.reader_url) as readers:
            yield livewell.api.Api(
                self.database,
                readers,
                self._operating(options),
                self.items,
                options=livewell.live.GatewayOptions().following(settings),
                origins=options.origins,
            )

    @asynccontextmanager
    async def _door(self, options: "livewell.api.DoorOptions | None") -> AsyncIterator[list[Component]]:
        """The door of a process that has one."""
        if options is None:
            yield []
        elif options.for_viewers:
            async with self.api(options) as api:
                server = livewell.api.ApiServer(api.application, options)
                server.open()
                yield [livewell.api.ApiDoor(api, server)]
        else:
            operating = self._operating(options, trusts_this_machine=options.is_local)
            routes = livewell.api.operating_routes(operating)
            server = livewell.api.ApiServer(livewell.api.application_with(routes), options)
            server.open()
            yield [server]

    def _operating(
        self, options: "livewell.api.DoorOptions", *, trusts_this_machine: bool = False
    ) -> "livewell.api.Operating":
        async def run(name: str, force: bool) -> RunAnswer:  # noqa: FBT001 - as a route asks it
            return await self.run_task(name, force=force)

        return livewell.api.Operating(
            health=self.tasks.task_health,
            ready=self._answers,
            run=run,
            doorkeeper=livewell.access.Doorkeeper(self.database, sources=self.key_sources),
            token=options.token,
            trusts_this_machine=trusts_this_machine,
        )

    async def _answers(self) -> str | None:
        await self.database.fetchval("select 1")
        return None

    def scheduler(self, settings: SettingsWatcher) -> Scheduler:
        """What runs the due tasks, to be run by a service of one's own."""
        return Scheduler(
            self.database,
            self._runnable_tasks(),
            poll_interval=lambda: settings.current.schedule_poll_interval,
            tell=TELLERS,
        )

    async def run_task(self, name: str, *, force: bool = False) -> RunAnswer:
        """Run one task now if it is due and free; forced, also when it is not due or disabled."""
        leases = TaskLeases(self.tasks)
        runner = TaskRunner(self.tasks, leases, self._runnable_tasks(), node=this_node(), tell=TELLERS)
        async with leases.keeper.at_work():
            return await runner.run(name, self.database, force=force)

    def _runnable_tasks(self) -> dict[str, TaskHandler]:
        """The handlers of this program, and those of shipped tasks that need one."""
        kept = task_handler_of(MARKET_CALENDAR, CalendarKeeper(self.registry).run_once, TaskDeclaration())
        return {MARKET_CALENDAR: kept, **self._tasks}

    async def service(self, options: WorkerOptions | None = None, *, scheduled: bool = True) -> tuple[Service, Worker]:
        """A worker with everything it needs beside it: listener, settings, scheduler unless told not to, gauges."""
        settings = await SettingsWatcher.begin(self.database)
        worker = self.worker(settings, options)
        await worker.check()
        service = await self._service(settings, [worker], scheduled=scheduled)
        service.add_component(worker)
        service.add(QueueGauges(self.jobs))
        return service, worker

    async def _service(self, settings: SettingsWatcher, beside: list[Worker], *, scheduled: bool = True) -> Service:
        """The scheduler and what it needs, with whoever else wants to be told of notifications."""
        try:
            await make_partitions(self.jobs)
        except LivewellError as error:
            log.warning("first_care_failed", error=str(error))
        schedulers = [self.scheduler(settings)] if scheduled else []
        followers: list[SettingsWatcher | Scheduler | Worker] = [settings, *schedulers, *beside]

        def on_notify(channel: str, payload: str) -> None:
            for follower in followers:
                follower.on_notify(channel, payload)

        def on_reconnect() -> None:
            for follower in followers:
                follower.on_reconnect()

        listener = Listener(
            self.database.options,
            [JOBS_CHANNEL, CANCEL_CHANNEL, SETTINGS_CHANNEL, TASKS_CHANNEL, TYPES_CHANNEL],
            on_notify,
            on_reconnect,
            longest_pause=LONGEST_PAUSE,
        )
        service = Service(
            agents=[
                TaskGauges(self.tasks),
                BudgetGauges(self.budgets),
                FreshnessGauges(self.freshness),
                PresenceGauges(self.presence.store),
            ],
            components=[listener, *schedulers],
            options=ServiceOptions(longest_pause=LONGEST_PAUSE, first_round_within=FIRST_ROUNDS),
        )
        service.add(settings, wake=settings.wake)
        if schedulers:
            settings.subscribe(lambda _: schedulers[0].wake.set())
        return service

    async def run_worker(
        self,
        options: WorkerOptions | None = None,
        *,
        scheduled: bool = True,
        door: "livewell.api.DoorOptions | None" = None,
    ) -> int:
        """Run a worker, due tasks and a door beside it if told to, until SIGTERM or SIGINT; returns the exit code."""
        async with self._door(door) as doors:
            service, _ = await self.service(options, scheduled=scheduled)
            for opened in doors:
                service.add_component(opened)
            return await service.run()

    async def run_scheduler(self, *, door: "livewell.api.DoorOptions | None" = None) -> int:
        """Run due tasks, and no jobs, until SIGTERM or SIGINT; returns the exit code."""
        async with self._door(door) as doors:
            service = await self._service(await SettingsWatcher.begin(self.database), [])
            for opened in doors:
                service.add_component(opened)
            return await service.run()

    async def run_api(self, door: "livewell.api.DoorOptions") -> int:
        """Serve, and run neither jobs nor tasks, until SIGTERM or SIGINT; returns the exit code."""
        async with self._door(door) as doors:
            return await Service(components=doors).run()
