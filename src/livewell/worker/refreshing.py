"""Refreshes: jobs that fetch a key of a data type, and whose end is stored together with what they brought.

Which types there are is data: the worker asks again from time to time, and serves those this program can fetch. Keys of
one type that are refreshed at the same moment, with the same key of the provider, go out in one request where the type
allows it. What the last answer was marked with is looked up for all of them at once; where it cannot be, they are asked
for without.

Events: `conditions_not_read`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple
from uuid import UUID

import structlog
from pydantic import BaseModel, ConfigDict

from livewell.budgets import PermitExpired
from livewell.fetching import (
    STORE_SECONDS,
    Answered,
    Asked,
    Condition,
    Ended,
    Failed,
    Fetching,
    FetchStore,
    Refused,
    Source,
    fetch_seconds,
    tell_stored,
)
from livewell.jobs import JobId, KindDeclaration
from livewell.kernel import LivewellError
from livewell.worker.context import JobContext
from livewell.worker.finisher import Ended as EndedJob
from livewell.worker.gathering import Gatherer
from livewell.worker.handlers import Handler

log = structlog.get_logger("livewell.worker")

KIND = "refresh."
_CONDITIONS_AT_ONCE = 500
_NOT_STORED = "not_stored"


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
    """Refreshes end where what they brought is stored."""

    def __init__(self, store: FetchStore) -> None:
        self._store = store

    async def finish(self, batch: Sequence[EndedJob[Refreshed]]) -> dict[JobId, str]:
        ended = [_ended(held.job.job_id, held.job.lease_token, one) for held, one in batch]
        with STORE_SECONDS.time():
            stored = await self._store.store_fetches(ended)
        tell_stored(ended, stored)
        return {JobId(one.job_id): one.state for one in stored}

    def instead(self, outcome: Refreshed, why: str) -> Refreshed | None:
        ended = outcome.answered.outcome
        if isinstance(ended, Refused) and ended.reason == _NOT_STORED:
            return None
        refused = Refused(reason=_NOT_STORED, message=why)
        return replace(outcome, answered=replace(outcome.answered, outcome=refused, warnings=()))

    def weight(self, outcome: Refreshed) -> int:
        return outcome.answered.size


class Refresher:
    """Serves the refreshes of the types that `sources` knows how to fetch."""

    def __init__(
        self, fetching: Fetching, store: FetchStore, sources: Callable[[], Awaitable[Sequence[Source]]]
    ) -> None:
        self._fetching = fetching
        self._store = store
        self._sources = sources
        self._served: dict[str, Source] = {}
        self._requests: dict[tuple[str, str | None], Gatherer[_Question, Answered]] = {}
        self._conditions: Gatherer[int, Condition | None] = Gatherer(self._look_up, most=_CONDITIONS_AT_ONCE)

    async def follow(self) -> Mapping[str, Handler]:
        """The handlers of the types as they are now, by kind."""
        served = {source.data_type: source for source in await self._sources()}
        changed = {name for name, source in served.items() if source != self._served.get(name)}
        self._requests = {known: one for known, one in self._requests.items() if known[0] not in changed}
        self._served |= served
        return {KIND + name: self._handler(name) for name in served}

    def _handler(self, data_type: str) -> Handler:
        return Handler(
            declaration=KindDeclaration(kind=KIND + data_type),
            function=partial(self._refresh, data_type),
            model=Refresh,
            wants_context=True,
        )

    async def _refresh(self, data_type: str, refresh: Refresh, ctx: JobContext) -> Refreshed:
        """Fetch one key, together with whichever are asked for at this moment."""
        condition = None if refresh.cause == "missing" else await self._conditions.ask(refresh.item)
        answered = await self._gatherer(data_type, ctx).ask(_Question(refresh, condition, ctx))
        return Refreshed(refresh=refresh, answered=answered)

    def _gatherer(self, data_type: str, ctx: JobContext) -> "Gatherer[_Question, Answered]":
        name = (data_type, ctx.job.key_source)
        gatherer = self._requests.get(name)
        if gatherer is None:
            source = self._served[data_type]
            gatherer = Gatherer(partial(self._request, source), most=source.keys_per_request)
            self._requests[name] = gatherer
        return gatherer

    async def _request(self, source: Source, questions: Sequence["_Question"]) -> list[Answered | BaseException]:
        """One request for all of them. When one of them may no longer be sent, none is, and all go back at no cost."""

        async def sending() -> None:
            for question in questions:
                question.ctx.sending()

        asked = [question.asked() for question in questions]
        with fetch_seconds(source.data_type).time():
            answers = await self._fetching.fetch(source, asked, secret=questions[0].ctx.api_key, sending=sending)
        return [_late(question, answer) or answer for question, answer in zip(questions, answers, strict=True)]

    async def _look_up(self, items: Sequence[int]) -> list[Condition | BaseException | None]:
        try:
            found = await self._store.fetch_conditions(items)
        except LivewellError as error:
            log.warning("conditions_not_read", error=str(error), items=len(items))
            return [None] * len(items)
        return [found.get(item) for item in items]


class _Question(NamedTuple):
    """A refresh that wants its key fetched."""

    refresh: Refresh
    condition: Condition | None
    ctx: JobContext

    def asked(self) -> Asked:
        marked = self.condition
        return Asked(
            data_type=self.refresh.type,
            key=self.refresh.key,
            etag=marked and marked.etag,
            last_modified=marked and marked.last_modified,
        )


def _late(question: _Question, answer: Answered) -> PermitExpired | None:
    """That a call was not sent because it no longer might be: its job is queued again, and loses no retry."""
    outcome = answer.outcome
    if not answer.sent and isinstance(outcome, Failed) and outcome.reason == "unsent":
        question.ctx.unsent()
        return PermitExpired(outcome.message, fix="it is queued again")
    return None


def _ended(job_id: JobId, lease_token: UUID, one: Refreshed) -> Ended:
    refresh, answered = one.refresh, one.answered
    return Ended(
        job_id=job_id,
        lease_token=lease_token,
        item_id=refresh.item,
        data_type=refresh.type,
        key=refresh.key,
        outcome=answered.outcome,
        bytes=answered.bytes,
        rate=answered.rate,
        sent=answered.sent,
        warnings=tuple((one.code, one.message) for one in answered.warnings),
    )
