"""Refreshes: jobs that fetch a key of a data type, and whose end is stored together with what they brought.

Which types there are is data: the worker asks again from time to time, and serves those this program can fetch. Keys of
one type that are refreshed at the same moment, with the same key of the provider, go out in one request where the type
allows it. What the last answer was marked with is looked up for all of them at once.

Events: `types_not_read`, `refresh_crashed`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol
from uuid import UUID

import structlog
from pydantic import BaseModel, ConfigDict

from livewell.budgets import PermitExpired, Secret
from livewell.fetching import Condition, Ended, Failed, FetchStore, Outcome
from livewell.jobs import JobId, JsonObject, KindDeclaration
from livewell.worker.context import JobContext
from livewell.worker.failures import text_of
from livewell.worker.finisher import Ended as EndedJob
from livewell.worker.gathering import Gatherer
from livewell.worker.handlers import Handler

log = structlog.get_logger("livewell.worker")

KIND = "refresh."
_CONDITIONS_AT_ONCE = 500


class Refresh(BaseModel):
    """The payload of a refresh, as the checker queues it."""

    model_config = ConfigDict(strict=True, frozen=True)

    type: str
    key: str
    item: int
    cause: str


class Asked(NamedTuple):
    """One key to be fetched, and what its last answer was marked with."""

    key: str
    condition: Condition | None


class Answered(NamedTuple):
    """What one key came to, and its share of what the request spent; `rate` is what the answer said of limits."""

    outcome: Outcome
    bytes: int | None = None
    tokens: int | None = None
    rate: JsonObject | None = None


class Source(Protocol):
    """What fetches the keys of one data type."""

    @property
    def data_type(self) -> str: ...

    @property
    def keys_per_request(self) -> int: ...

    async def fetch(self, asked: Sequence[Asked], api_key: Secret | None) -> Sequence[Answered]:
        """One request for these keys; an answer for each of them, whatever happens."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Refreshed:
    """How a refresh ended; it is stored in the same transaction as its job's end."""

    refresh: Refresh
    answered: Answered
    sent: bool = True


class RefreshEnds:
    """Refreshes end where what they brought is stored."""

    def __init__(self, store: FetchStore) -> None:
        self._store = store

    async def finish(self, batch: Sequence[EndedJob[Refreshed]]) -> dict[JobId, str]:
        stored = await self._store.store_fetches([_ended(held.job.job_id, held.job.lease_token, one) for held, one in batch])
        return {one.job_id: one.state for one in stored}

    def instead(self, outcome: Refreshed, why: str) -> Refreshed | None:
        if isinstance(outcome.answered.outcome, Failed):
            return None
        failed = Failed(reason="not_stored", message=why)
        return Refreshed(refresh=outcome.refresh, answered=outcome.answered._replace(outcome=failed), sent=outcome.sent)


class Refresher:
    """Serves the refreshes of the types that `sources` knows how to fetch."""

    def __init__(self, store: FetchStore, sources: Callable[[], Awaitable[Sequence[Source]]]) -> None:
        self._store = store
        self._sources = sources
        self._served: dict[str, Source] = {}
        self._requests: dict[tuple[str, str | None], Gatherer[_Question, Answered]] = {}
        self._conditions: Gatherer[int, Condition | None] = Gatherer(self._look_up, most=_CONDITIONS_AT_ONCE)

    async def follow(self) -> Mapping[str, Handler]:
        """The handlers of the types as they are now, by kind."""
        served = {source.data_type: source for source in await self._sources()}
        for known in list(self._requests):
            if served.get(known[0]) is not self._served.get(known[0]):
                del self._requests[known]
        self._served = served
        return {KIND + name: self._handler(name) for name in served}

    def _handler(self, data_type: str) -> Handler:
        return Handler(
            declaration=KindDeclaration(kind=KIND + data_type), function=self.refresh, model=Refresh, wants_context=True
        )

    async def refresh(self, refresh: Refresh, ctx: JobContext) -> Refreshed:
        """Fetch one key, together with whichever are asked for at this moment."""
        condition = None if refresh.cause == "missing" else await self._conditions.ask(refresh.item)
        question = _Question(refresh, condition, ctx)
        if ctx.job.kind != KIND + refresh.type:
            failed = Failed(reason="wrong_type", message=f"a job of {ctx.job.kind} asks for {refresh.type}")
            ctx.spent(bytes=0)
            return Refreshed(refresh=refresh, answered=Answered(failed, bytes=0), sent=False)
        return Refreshed(refresh=refresh, answered=await self._gatherer(refresh.type, ctx).ask(question))

    def _gatherer(self, data_type: str, ctx: JobContext) -> "Gatherer[_Question, Answered]":
        name = (data_type, ctx.job.key_source)
        gatherer = self._requests.get(name)
        if gatherer is None:
            source = self._served[data_type]
            moment = {} if source.keys_per_request > 1 else {"moment": 0.0}
            gatherer = Gatherer(partial(self._request, source), most=source.keys_per_request, **moment)
            self._requests[name] = gatherer
        return gatherer

    async def _request(
        self, source: Source, questions: Sequence["_Question"]
    ) -> Sequence[Answered | BaseException]:
        late: dict[int, BaseException] = {}
        for number, question in enumerate(questions):
            try:
                question.ctx.sending()
            except PermitExpired as error:
                late[number] = error
        in_time = [question for number, question in enumerate(questions) if number not in late]
        answers = iter(await self._fetched(source, in_time) if in_time else ())
        return [late[number] if number in late else next(answers) for number in range(len(questions))]

    async def _fetched(self, source: Source, questions: Sequence["_Question"]) -> Sequence[Answered]:
        asked = [Asked(question.refresh.key, question.condition) for question in questions]
        try:
            return await source.fetch(asked, questions[0].ctx.api_key)
        except Exception as error:  # noqa: BLE001 - a fetcher that breaks ends its own refreshes, and says so
            log.exception("refresh_crashed", type=source.data_type, keys=len(asked))
            failed = Failed(reason="crash", message=f"{type(error).__name__}: {text_of(error)}")
            return [Answered(failed)] * len(asked)

    async def _look_up(self, items: Sequence[int]) -> Sequence[Condition | None]:
        found = {one.item_id: one for one in await self._store.fetch_conditions(items)}
        return [found.get(item) for item in items]


class _Question(NamedTuple):
    """A refresh that wants its key fetched."""

    refresh: Refresh
    condition: Condition | None
    ctx: JobContext


def _ended(job_id: JobId, lease_token: UUID, one: Refreshed) -> Ended:
    answered = one.answered
    return Ended(
        job_id, lease_token, one.refresh.item, one.refresh.type, one.refresh.key, answered.outcome,
        answered.bytes, answered.tokens, answered.rate, one.sent,
    )
