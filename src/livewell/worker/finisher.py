"""The finisher ends attempts in batches on a connection of its own: while one batch is sent, the next is collected.

The lease of a job is renewed until the database has answered. When it cannot be reached the outcomes are kept and sent
again; the token decides whether they still count. An answer `lost` after such a repeat may mean that the first sending
had arrived. An outcome that the database refuses (a result that is no JSON to it) is sought out by halving the batch,
and fails its own job alone. One that the database answers with `busy`, because somebody else has what it would write in
an open transaction, is set aside: its lease is renewed, and it is sent again later, in a batch of its own. After some
tries it is given up.

Events: `finish_failed`, `outcome_refused`, `outcome_given_up`, `lease_lost` (with the job id).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Generic, Protocol, TypeAlias, TypeVar

from livewell.jobs import (
    FINISH_SECONDS,
    JOBS_FINISHED,
    JOBS_SET_ASIDE,
    LEASES_LOST,
    Failed,
    Finish,
    InvalidJob,
    JobId,
    JobStore,
    Outcome,
)
from livewell.kernel import LONGEST_PAUSE, Backoff, Logger
from livewell.worker.failures import text_of
from livewell.worker.leased_jobs import LeasedJob

log = Logger("livewell.worker")

BATCH = 1000
# A batch is in memory several times while it is sent: as outcomes, as text, and as what goes over the wire.
BATCH_BYTES = 4 * 1024 * 1024
_NOT_TOLD = Backoff(first=timedelta(milliseconds=100), longest=LONGEST_PAUSE)
# With the pauses as they grow, that is a quarter of a minute.
MOST_TRIES = 8
_BUSY = "busy"
# Classes of SQLSTATE: data exceptions, integrity, limits of a value.
_ABOUT_THE_VALUE = ("22", "23", "54")


End = TypeVar("End")
# An attempt that is over, and how.
EndedAttempt: TypeAlias = tuple[LeasedJob, End]


class Ends(Protocol[End]):
    """How attempts of some kinds are ended in the database, in one transaction a batch."""

    async def finish(self, batch: Sequence[EndedAttempt[End]]) -> dict[JobId, str]:
        """The state of each job that is not completed now.

        It is `lost` where the attempt no longer counted, `busy` where nothing was done because somebody else has it.
        """
        ...

    def instead(self, outcome: End, why: str) -> End | None:
        """What is sent in place of an outcome that the database refused; None when nothing less can be sent."""
        ...

    @property
    def weight(self) -> Callable[[End], int] | None:
        """About how many bytes an outcome brings with it; None where it is never many."""
        ...


class JobEnds:
    """How jobs end that store nothing with their end."""

    def __init__(self, store: JobStore) -> None:
        self._store = store

    async def finish(self, batch: Sequence[EndedAttempt[Outcome]]) -> dict[JobId, str]:
        return await self._store.finish_jobs(
            [Finish(leased.job.job_id, leased.job.lease_token, outcome, leased.spent) for leased, outcome in batch]
        )

    def instead(self, outcome: Outcome, why: str) -> Outcome | None:
        return None if isinstance(outcome, Failed) else Failed(error={"type": "OutcomeRefused", "message": why})

    weight = None


class Finisher(Generic[End]):
    """Takes how jobs ended and tells the database; `forget` is called for each when it has answered.

    What stays busy is given to `give_up`; without it the job is left to its lease.
    """

    def __init__(
        self,
        ends: Ends[End],
        forget: Callable[[LeasedJob], None],
        give_up: Callable[[LeasedJob, End], None] | None = None,
    ) -> None:
        self._ends = ends
        self._forget = forget
        self._give_up = give_up or (lambda leased, _: forget(leased))
        self._pending: list[EndedAttempt[End]] = []
        self._sending: list[EndedAttempt[End]] = []
        # What was busy: first until its pause is over, then until it is sent again.
        self._aside: dict[LeasedJob, EndedAttempt[End]] = {}
        self._again: list[EndedAttempt[End]] = []
        self._tries: dict[LeasedJob, int] = {}
        self._hurry = False
        self._more = asyncio.Event()
        self.finished = asyncio.Event()

    def add(self, leased: LeasedJob, outcome: End) -> None:
        self._pending.append((leased, outcome))
        self._more.set()

    def rouse(self) -> None:
        """Make it look whether it is to stop."""
        self._more.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Send until told to stop, and then what is left."""
        while True:
            if stop.is_set():
                self._take_back()
            if not self._pending and not self._again:
                if stop.is_set():
                    return
                self._more.clear()
                await self._more.wait()
                continue
            # What was busy is sent alone, after a batch that was not: it delays no other outcome, and has its turn.
            for queue in (self._pending, self._again):
                if queue:
                    await self._send_next(queue)
            self.finished.set()

    def unsent(self) -> set[LeasedJob]:
        """Those whose outcome the database has not answered yet."""
        return {leased for leased, _ in (*self._sending, *self._pending, *self._again, *self._aside.values())}

    async def send_rest(self) -> None:
        """Send what is left when `run` was cut off, what was on its way again: the token decides whether it counts."""
        self._pending[:0], self._sending = self._sending, []
        self._take_back()
        self._pending += self._again
        self._again.clear()
        while self._pending:
            await self._send_next(self._pending)

    def _take_back(self) -> None:
        """What was set aside is tried once more, now."""
        self._hurry = True
        self._again += self._aside.values()
        self._aside.clear()

    async def _send_next(self, queue: list[EndedAttempt[End]]) -> None:
        self._sending = self._next_batch(queue)
        await self._send(self._sending)
        self._sending = []

    def _next_batch(self, queue: list[EndedAttempt[End]]) -> list[EndedAttempt[End]]:
        """At most one attempt of each job: one that was lost, and run here again, may have two outcomes waiting."""
        most = self._how_many(queue)
        batch = queue[:most]
        del queue[:most]
        if len({leased.job.job_id for leased, _ in batch}) == len(batch):
            return batch
        first: dict[JobId, EndedAttempt[End]] = {}
        queue[:0] = [ended for ended in batch if first.setdefault(ended[0].job.job_id, ended) is not ended]
        return list(first.values())

    def _how_many(self, queue: list[EndedAttempt[End]]) -> int:
        """As many as may be sent at once by number and by weight; one in any case."""
        if (weight_of := self._ends.weight) is not None:
            weight = 0
            for number, (_, outcome) in enumerate(queue[:BATCH]):
                weight += weight_of(outcome)
                if number and weight > BATCH_BYTES:
                    return number
        return BATCH

    async def _send(self, batch: list[EndedAttempt[End]]) -> None:
        failures = 0
        while True:
            try:
                with FINISH_SECONDS.time():
                    states = await self._ends.finish(batch)
            except Exception as error:  # noqa: BLE001 - an outcome is not dropped for any reason
                if _is_refused(error):
                    return await self._send_apart(batch, error)
                failures += 1
                log.warning("finish_failed", error=text_of(error), jobs=len(batch), in_a_row=failures)
                await asyncio.sleep(_NOT_TOLD.seconds(failures))
            else:
                return self._told(batch, states, repeated=failures > 0)

    async def _send_apart(self, batch: list[EndedAttempt[End]], error: Exception) -> None:
        """Send a refused batch in halves; what is refused alone fails its job, or is left to its lease if it cannot."""
        if len(batch) > 1:
            await self._send(batch[: len(batch) // 2])
            await self._send(batch[len(batch) // 2 :])
            return
        ((leased, outcome),) = batch
        log.error("outcome_refused", job_id=leased.job.job_id, kind=leased.job.kind, error=text_of(error))
        instead = self._ends.instead(outcome, f"its outcome could not be kept: {text_of(error)}")
        if instead is None:
            self._forget(leased)
            return
        await self._send([(leased, instead)])

    def _told(self, batch: list[EndedAttempt[End]], states: dict[JobId, str], *, repeated: bool) -> None:
        for leased, outcome in batch:
            if states.get(leased.job.job_id) == _BUSY:
                self._set_aside(leased, outcome)
            else:
                self._tries.pop(leased, None)
                self._forget(leased)
        counts = Counter((leased.job.kind, states.get(leased.job.job_id, "completed")) for leased, _ in batch)
        for (kind, state), count in counts.items():
            if state == "lost":
                LEASES_LOST.labels(kind=kind).inc(count)
            elif state == _BUSY:
                JOBS_SET_ASIDE.labels(kind=kind).inc(count)
            else:
                JOBS_FINISHED.labels(kind=kind, state=state).inc(count)
        for job_id, state in states.items():
            if state == "lost":
                log.warning("lease_lost", job_id=job_id, repeated=repeated)

    def _set_aside(self, leased: LeasedJob, outcome: End) -> None:
        """Send it again after a pause that grows with each try."""
        tries = self._tries.pop(leased, 0) + 1
        if self._hurry or tries >= MOST_TRIES:
            log.warning("outcome_given_up", job_id=leased.job.job_id, kind=leased.job.kind, tries=tries)
            self._give_up(leased, outcome)
            return
        self._tries[leased] = tries
        self._aside[leased] = (leased, outcome)
        asyncio.get_running_loop().call_later(_NOT_TOLD.seconds(tries), self._send_again, leased)

    def _send_again(self, leased: LeasedJob) -> None:
        if (ended := self._aside.pop(leased, None)) is not None:
            self._again.append(ended)
            self._more.set()


def _is_refused(error: Exception) -> bool:
    """Whether sending it again would be refused again: a value that cannot be stored, not a database out of reach."""
    state = getattr(error, "sqlstate", None)
    return isinstance(error, InvalidJob | ValueError | TypeError) or (
        isinstance(state, str) and state.startswith(_ABOUT_THE_VALUE)
    )
