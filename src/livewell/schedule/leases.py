"""The tasks this node has leased while their handlers run.

A run whose lease could not be renewed in time is stopped before another node can have the task.

Events: `lease_renewal_failed`, `task_lost`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from livewell.kernel import LeaseKeeper, Logger, NotRenewed, Renewal
from livewell.schedule.store import TaskStore

log = Logger("livewell.schedule")


class Stop(Enum):
    """Why a run is stopped from outside."""

    LOST = "its lease may be lost"
    OVERDUE = "it reached its time limit"


@dataclass(slots=True, eq=False)
class LeasedTask:
    """A task whose handler runs here."""

    name: str
    token: UUID
    lease_seconds: float
    trusted_until: float
    time_limit_seconds: float
    task: "asyncio.Task[object] | None" = None
    stop: Stop | None = None

    @property
    def is_in_use(self) -> bool:
        return self.stop is None

    def stop_because(self, stop: Stop) -> None:
        """Cancel its handler; the first reason counts."""
        if self.stop is None:
            self.stop = stop
            if self.task is not None:
                self.task.cancel()


class TaskLeases:
    """The leases of running handlers, renewed by `keeper`."""

    def __init__(self, store: TaskStore) -> None:
        self._store = store
        self._leased: list[LeasedTask] = []
        self.keeper = LeaseKeeper(self)

    def add(self, leased: LeasedTask) -> None:
        self._leased.append(leased)
        self.keeper.begin()

    def remove(self, leased: LeasedTask) -> None:
        self._leased.remove(leased)

    def leases(self) -> list[LeasedTask]:
        return [leased for leased in self._leased if leased.stop is not Stop.LOST]

    async def renew(self, leases: Sequence[LeasedTask]) -> list[Renewal]:
        answers = await self._store.renew_tasks([leased.name for leased in leases], [leased.token for leased in leases])
        seconds_of = {answer.name: answer.lease_seconds for answer in answers}
        return [seconds_of[leased.name] or NotRenewed.LOST for leased in leases]

    def lose(self, lease: LeasedTask, why: str) -> None:
        log.warning("task_lost", task=lease.name, why=why)
        lease.stop_because(Stop.LOST)

    def not_renewed(self, error: Exception) -> None:
        log.warning("lease_renewal_failed", error=str(error) or "no answer", held=len(self._leased))
