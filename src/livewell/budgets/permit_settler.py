"""Tells the database, in batches, what permits cost and what answers taught.

One call per block, at once when all of its permits are settled or somebody waits for what comes back, otherwise after a
short while. What was learned goes first, so that a throttled endpoint is closed before its concurrency comes back. A
call that fails is repeated as long as the lease lasts: settling twice settles once.

Events: `permits_settled_late` (tried again), `permits_not_settled` (given up; the lease brings them back),
`limits_not_learned`.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from livewell.budgets.headers import RateFacts
from livewell.budgets.permit_metrics import PERMITS_SETTLED
from livewell.budgets.permits import PermitBlock
from livewell.budgets.store import BudgetStore
from livewell.budgets.types import PermitSettlement
from livewell.kernel import PASSING, Backoff, Logger

_NOT_SENT = Backoff(first=timedelta(milliseconds=40), longest=timedelta(seconds=2))
_LEARNING_IS_WORTH_IT_FOR = 10.0

log = Logger("livewell.budgets")


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What one answer told, and when its request was sent."""

    facts: RateFacts
    sent_at: float


class PermitSettler:
    """Collects settlements and lessons, and sends them from one task that is there only while there are any."""

    def __init__(
        self,
        store: BudgetStore,
        *,
        every: timedelta,
        clock: Callable[[], float],
        on_settled: Callable[[PermitBlock], None],
        in_a_hurry: Callable[[str], bool],
    ) -> None:
        self._store = store
        self._every = every.total_seconds()
        self._clock = clock
        self._on_settled = on_settled
        self._in_a_hurry = in_a_hurry
        self._settlements: dict[PermitBlock, list[PermitSettlement]] = {}
        self._lessons: dict[tuple[str, str | None], Lesson] = {}
        self._hurry = asyncio.Event()
        self._stopped = False
        self._task: asyncio.Task[None] | None = None

    def settle(self, block: PermitBlock, settlement: PermitSettlement) -> None:
        """Take note of one permit that has ended."""
        block.unsettled -= 1
        self._settlements.setdefault(block, []).append(settlement)
        self._begin(hurry=block.unsettled == 0 or self._in_a_hurry(block.endpoint))

    def learn(self, endpoint: str, key_name: str | None, facts: RateFacts, sent_at: float) -> None:
        """Take note of what an answer told; the newest counts, but an answer that throttles is kept."""
        known = self._lessons.get((endpoint, key_name))
        if known is None or facts.is_throttled or not known.facts.is_throttled:
            self._lessons[(endpoint, key_name)] = Lesson(facts=facts, sent_at=sent_at)
        self._begin(hurry=facts.is_throttled)

    def hurry(self) -> None:
        """Send what is noted without waiting for more."""
        self._hurry.set()

    async def flush(self) -> None:
        """Send everything noted so far."""
        while self._task is not None and not self._task.done():
            self._hurry.set()
            await asyncio.shield(self._task)

    async def stop(self) -> None:
        """Take note of nothing more, and drop what is not sent yet; leases bring it back."""
        self._stopped = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _begin(self, *, hurry: bool) -> None:
        if hurry:
            self._hurry.set()
        if not self._stopped and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._run(), name="permit_settler")

    async def _run(self) -> None:
        while self._settlements or self._lessons:
            await self._wait_a_while()
            lessons, self._lessons = self._lessons, {}
            for (endpoint, key_name), lesson in lessons.items():
                await self._teach(endpoint, key_name, lesson)
            settlements, self._settlements = self._settlements, {}
            for block, batch in settlements.items():
                await self._send(block, batch)

    async def _wait_a_while(self) -> None:
        try:
            async with asyncio.timeout(self._every):
                await self._hurry.wait()
        except TimeoutError:
            pass
        self._hurry.clear()

    async def _teach(self, endpoint: str, key_name: str | None, lesson: Lesson) -> None:
        failures = 0
        while True:
            age = self._clock() - lesson.sent_at
            try:
                await self._store.learn_limits(endpoint, key_name, lesson.facts, age=timedelta(seconds=age))
            except PASSING as error:
                failures += 1
                if age > _LEARNING_IS_WORTH_IT_FOR or failures > 5:  # noqa: PLR2004 - by then newer answers teach more
                    log.warning("limits_not_learned", endpoint=endpoint, reason=error.message)
                    return
                await asyncio.sleep(_NOT_SENT.seconds(failures))
            except Exception as error:  # noqa: BLE001 - what an answer told must not stop what it cost
                log.error("limits_not_learned", endpoint=endpoint, reason=str(error))  # noqa: TRY400 - one line
                return
            else:
                return

    async def _send(self, block: PermitBlock, batch: list[PermitSettlement]) -> None:
        failures = 0
        while not block.lost:
            try:
                settled = set(await self._store.settle_permits(block.id, batch))
            except PASSING as error:
                failures += 1
                log.info("permits_settled_late", endpoint=block.endpoint, reason=error.message, in_a_row=failures)
                await asyncio.sleep(_NOT_SENT.seconds(failures))
            except Exception as error:  # noqa: BLE001 - refused for good: the lease brings them back
                log.error("permits_not_settled", endpoint=block.endpoint, block=str(block.id), reason=str(error))  # noqa: TRY400
                break
            else:
                for outcome, permits in Counter(
                    settlement.outcome for settlement in batch if settlement.number in settled
                ).items():
                    PERMITS_SETTLED.labels(endpoint=block.endpoint, outcome=outcome).inc(permits)
                break
        self._on_settled(block)
