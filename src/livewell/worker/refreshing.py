"""Refreshes: jobs that fetch a key of a data type, and whose end is stored together with what they brought.

Which types there are is data: the worker asks again from time to time, and serves those this program can fetch. Keys of
one type that were claimed as a bundle go out in one request, which was paid for once; a bundle is never split, and two
are never joined. What the last answer was marked with is looked up for all at once; where that fails, the requests are
not conditional.

Events: `conditions_not_read`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError

from livewell.budgets import BudgetStore, KeyNotAllowed, KeyUnreadable, PermitExpired
from livewell.fetching import (
    STORE_SECONDS,
    Answered,
    Asked,
    Condition,
    EndedFetch,
    FetchFailed,
    Fetching,
    FetchStore,
    FetchThrottled,
    Refused,
    Source,
    fetch_seconds,
    tell_stored,
)
from livewell.jobs import JobId, KindDeclaration, Reschedule, Spent, Throttled
from livewell.kernel import LivewellError, Logger
from livewell.worker.batching import Batcher
from livewell.worker.context import JobContext
from livewell.worker.finisher import EndedAttempt
from livewell.worker.handlers import REFRESHES, Handler
from livewell.worker.leased_jobs import LeasedJob
from livewell.worker.sending import Permission

log = Logger("livewell.worker")

_CONDITIONS_AT_ONCE = 500
_NOT_STORED = "not_stored"
# Fetched again at once it would most likely still be locked, and the budget would be spent for nothing.
_HELD_PAUSE = timedelta(seconds=30)


class Refresh(BaseModel):
    """The payload of a refresh, as the checker queues it."""

    model_config = ConfigDict(strict=True, frozen=True)

    type: str
    key: str
    item: int
    cause: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Refreshed:
    """How a refresh ended; it is stored in the same transaction as its job's end."""

    refresh: Refresh
    answered: Answered


class RefreshEnds:
    """How refreshes end: in the transaction that stores what they brought."""

    def __init__(self, store: FetchStore) -> None:
        self._store = store

    async def finish(self, batch: Sequence[EndedAttempt[Refreshed]]) -> dict[JobId, str]:
        ended = [_ended(leased.job.job_id, leased.job.lease_token, refreshed) for leased, refreshed in batch]
        with STORE_SECONDS.time():
            stored = await self._store.store_fetches(ended)
        tell_stored(ended, stored)
        return {JobId(ended_job.job_id): ended_job.state for ended_job in stored}

    def instead(self, outcome: Refreshed, why: str) -> Refreshed | None:
        ended = outcome.answered.outcome
        if isinstance(ended, Refused) and ended.reason == _NOT_STORED:
            return None
        refused = Refused(reason=_NOT_STORED, message=why)
        return replace(outcome, answered=replace(outcome.answered, outcome=refused, warnings=()))

    def weight(self, outcome: Refreshed) -> int:
        return outcome.answered.size


def given_up(outcome: Refreshed) -> tuple[Spent, Reschedule | Throttled]:
    """What a refresh spent, and how its job ends, when it could not be stored because somebody held what it writes."""
    answered = outcome.answered
    spent = Spent(bytes=answered.bytes, rate=answered.rate, sent=answered.sent)
    match answered.outcome:
        case FetchThrottled(reason=None, seconds=seconds, message=message):
            return spent, Throttled(None if seconds is None else timedelta(seconds=seconds), message)
        case _:
            return spent, Reschedule(_HELD_PAUSE, "somebody held its item, its rows or its job in an open transaction")


class Refresher:
    """Serves the refreshes of the types that `sources` knows how to fetch."""

    def __init__(
        self,
        fetching: Fetching,
        store: FetchStore,
        budgets: BudgetStore,
        sources: Callable[[], Awaitable[Sequence[Source]]],
    ) -> None:
        self._fetching = fetching
        self._store = store
        self._budgets = budgets
        self._sources = sources
        self._served: dict[str, Source] = {}
        self.hurry = asyncio.Event()
        self._conditions: Batcher[int, Condition | None] = Batcher(self._look_up, most=_CONDITIONS_AT_ONCE)

    async def follow(self) -> Mapping[str, Handler]:
        """The handlers of the types as they are now, by kind."""
        served = {source.data_type: source for source in await self._sources()}
        self._served |= served
        return {REFRESHES + name: self._handler(name) for name in served}

    def _handler(self, data_type: str) -> Handler:
        return Handler(
            declaration=KindDeclaration(kind=REFRESHES + data_type),
            function=partial(self._refresh, data_type),
            model=Refresh,
            wants_context=True,
        )

    async def _refresh(self, data_type: str, refresh: Refresh, ctx: JobContext) -> Refreshed:
        """Fetch one key, in one request with those it was claimed together with."""
        answered = await ctx.together(partial(self._request, self._served[data_type], ctx))
        if answered is None:
            ctx.unsent()
            raise PermitExpired(f"the request of job {ctx.job_id} went out without it", fix="it is queued again")
        if (late := _late(ctx, answered)) is not None:
            raise late
        return Refreshed(refresh=refresh, answered=answered)

    async def _request(self, source: Source, first: JobContext, jobs: Sequence[LeasedJob]) -> dict[JobId, Answered]:
        """One request for all of them. When it may no longer be sent, all go back at no cost."""
        known = [(job, refresh) for job in jobs if (refresh := _read(job)) is not None]
        refreshes = [refresh for _, refresh in known]
        try:
            secret = first.api_key
        except KeyUnreadable as fact:
            failed = FetchFailed(reason="no_key", message=_why_no_key(fact))
            return {job.job.job_id: Answered(key=refresh.key, outcome=failed) for job, refresh in known}
        condition = await self._condition(refreshes[0]) if len(refreshes) == 1 else None
        with fetch_seconds(source.data_type).time():
            answers = await self._fetching.fetch(
                source,
                [_asked(refresh, condition) for refresh in refreshes],
                secret=secret,
                sending=Permission([job for job, _ in known], self._budgets, hurry=self.hurry),
            )
        return {job.job.job_id: answer for (job, _), answer in zip(known, answers, strict=True)}

    async def _condition(self, refresh: Refresh) -> Condition | None:
        """What the last answer was marked with; only a request for a single key can ask for what is newer."""
        return None if refresh.cause == "missing" else await self._conditions.ask(refresh.item)

    async def _look_up(self, items: Sequence[int]) -> list[Condition | BaseException | None]:
        try:
            found = await self._store.fetch_conditions(items)
        except LivewellError as error:
            log.warning("conditions_not_read", error=str(error), items=len(items))
            return [None] * len(items)
        return [found.get(item) for item in items]


def _why_no_key(fact: KeyUnreadable) -> str:
    """Why there is no key; for one that is there and not allowed, with what allows it."""
    return f"{fact.message} ({fact.fix})" if isinstance(fact, KeyNotAllowed) else fact.message


def _read(job: LeasedJob) -> Refresh | None:
    """The payload of a job that may not have its slot yet; None if it is unsound: it will fail by itself."""
    try:
        return Refresh.model_validate_json(job.job.payload)
    except ValidationError:
        return None


def _asked(refresh: Refresh, marked: Condition | None) -> Asked:
    return Asked(
        data_type=refresh.type,
        key=refresh.key,
        etag=marked and marked.etag,
        last_modified=marked and marked.last_modified,
    )


def _late(ctx: JobContext, answer: Answered) -> PermitExpired | None:
    """The fact that the call was not sent in time, if so: its job is queued again, and loses no retry."""
    outcome = answer.outcome
    if not answer.sent and isinstance(outcome, FetchFailed) and outcome.reason == "unsent":
        ctx.unsent()
        return PermitExpired(outcome.message, fix="it is queued again")
    return None


def _ended(job_id: JobId, lease_token: UUID, refreshed: Refreshed) -> EndedFetch:
    refresh, answered = refreshed.refresh, refreshed.answered
    return EndedFetch(
        job_id=job_id,
        lease_token=lease_token,
        item_id=refresh.item,
        data_type=refresh.type,
        key=refresh.key,
        outcome=answered.outcome,
        bytes=answered.bytes,
        rate=answered.rate,
        sent=answered.sent,
        warnings=tuple((warning.code, warning.message) for warning in answered.warnings),
    )
