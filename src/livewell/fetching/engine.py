"""The engine: from keys of a source to one outcome each, whatever the provider or the fetcher does.

It is the only place that joins client, fetcher and judge, so that a fetcher cannot forget what all of them need: the
type check, permission for every request, conditional requests, sizes, times, bytes and rate facts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pydantic_core import from_json

from livewell.budgets import PermitExpired, PermitNotGranted, Secret
from livewell.fetching.client import Client, Sending
from livewell.fetching.conversation import Conversation, Marked
from livewell.fetching.errors import CallEnded
from livewell.fetching.fetcher import Call
from livewell.fetching.judge import Verdict, Warned, judge_rows, share_out
from livewell.fetching.memory import READ_AHEAD, Kept
from livewell.fetching.messages import plain, plainly
from livewell.fetching.paths import NotThere
from livewell.fetching.sources import Source
from livewell.fetching.types import (
    Fetched,
    FetchFailed,
    FetchOutcome,
    FetchThrottled,
    Gone,
    JsonObject,
    Refused,
    Unchanged,
)

# Bad request, not found, gone, too long a URL, not to be processed.
_ABOUT_KEYS = {400, 404, 410, 414, 422}
MOST_KEY = 256
# What is read of an answer takes about twice what was sent, as Python has it.
_READ_PER_BYTE = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A key that shall be fetched, of which type, and what its last answer was marked with."""

    data_type: str
    key: str
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """What a key came to, its share of the bytes, None when nothing was sent, and what the answer said beside it.

    `size` is its share of the answer as it was before it was packed. What concerns the request as a whole
    (`rate`, `warnings`) is told with its first key only. The memory it takes is given back when nobody has it any more.
    """

    key: str
    outcome: FetchOutcome
    bytes: int | None = None
    size: int = 0
    rate: JsonObject | None = None
    warnings: tuple[Warned, ...] = ()
    sent: bool = False
    kept: Kept | None = field(default=None, repr=False, compare=False)


async def _at_once() -> None:
    """Permission where nobody counts."""


class Fetching:
    """Fetches keys of sources, over one client."""

    def __init__(self, client: Client, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._client = client
        self._clock = clock

    async def fetch(
        self, source: Source, asked: Sequence[Asked], *, secret: Secret | None = None, sending: Sending = _at_once
    ) -> list[Answered]:
        """One answer for each that was asked, in order. `sending` is awaited before every request that goes out."""
        by_key: dict[str, Answered] = {}
        good: dict[str, Asked] = {}
        for refresh in asked:
            objection = _objection(source, refresh)
            if objection is None:
                good.setdefault(refresh.key, refresh)
            elif refresh.data_type == source.data_type:
                by_key[refresh.key] = Answered(key=refresh.key, outcome=objection)
        for chunk in _chunks(list(good.values()), source.keys_per_request):
            by_key |= await self._found(source, chunk, secret, sending)
        return list(_in_order(source, asked, by_key))

    async def _found(
        self, source: Source, asked: Sequence[Asked], secret: Secret | None, sending: Sending
    ) -> dict[str, Answered]:
        """Ask for keys together; where the provider says that something is wrong with them, in halves, to find which.

        It makes as many further requests as it takes to find one wrong key, and no more.
        """
        first = await self._request(source, asked, secret, sending)
        answers = {answer.key: answer for answer in first}
        halves = _halves(asked) if _doubts_keys(first) else []
        for _ in range(2 * (len(asked) - 1).bit_length()):
            if not halves:
                break
            half = halves.pop()
            found = await self._request(source, half, secret, sending)
            if not found[0].sent:
                break
            answers |= {answer.key: _after(answers[answer.key], answer) for answer in found}
            halves += _halves(half) if _doubts_keys(found) else []
        return answers if any(_is_there(answer) for answer in answers.values()) else _as_first(first, answers)

    async def _request(
        self, source: Source, asked: Sequence[Asked], secret: Secret | None, sending: Sending
    ) -> list[Answered]:
        keys = [refresh.key for refresh in asked]
        wanted = min(source.expected_bytes * len(keys), source.limits.max_bytes)
        async with self._client.memory.reserve(wanted, beside=READ_AHEAD) as reservation:
            conversation = Conversation(
                self._client,
                source,
                reservation,
                keys=len(keys),
                secret=secret,
                sending=sending,
                before=Marked(etag=asked[0].etag, last_modified=asked[0].last_modified),
                clock=self._clock,
            )
            verdict = await self._verdict(source, keys, conversation)
            kept = reservation.keep(conversation.body_bytes * _READ_PER_BYTE)
            return _answers(keys, conversation, verdict, kept, secret)

    async def _verdict(self, source: Source, keys: Sequence[str], conversation: Conversation) -> Verdict:
        try:
            rows = await source.fetcher.fetch(Call(source.data_type, keys, conversation.ask))
            if conversation.ended is None:
                if conversation.calls == 0 or not isinstance(rows, list | tuple):
                    raise TypeError("a fetcher asks its call, and returns a list of rows")
                return judge_rows(keys, rows, source.rules, now=self._clock())
            ended: FetchOutcome = conversation.ended
        except CallEnded as fact:
            ended = conversation.ended or _broken(fact)
        except NotThere as error:
            ended = conversation.ended or Refused(reason="schema", message=str(error))
        except PermitExpired as fact:
            ended = conversation.ended or FetchFailed(reason="unsent", message=str(fact))
        except PermitNotGranted as fact:
            ended = conversation.ended or _put_off(fact)
        except Exception as error:  # noqa: BLE001 - a fetcher that fails, fails its keys
            ended = conversation.ended or _broken(error)
        return Verdict(outcomes=dict.fromkeys(keys, ended))


def _objection(source: Source, asked: Asked) -> FetchOutcome | None:
    if asked.data_type != source.data_type:
        return Refused(reason="other_type", message=f"a refresh of {asked.data_type}, not of {source.data_type}")
    # PostgreSQL has decided what is a key; here only what no type can have as a key is refused again.
    if not 0 < len(asked.key) <= MOST_KEY or not asked.key.isprintable():
        return Refused(reason="invalid_key", message=f"no key of {source.data_type}")
    return None


def _doubts_keys(answers: Sequence[Answered]) -> bool:
    """Whether an answer for several keys says that something is wrong with one of them, but not with which."""
    outcomes = [answer.outcome for answer in answers]
    return len(outcomes) > 1 and all(
        isinstance(outcome, FetchFailed) and outcome.status in _ABOUT_KEYS for outcome in outcomes
    )


def _halves(asked: Sequence[Asked]) -> list[Sequence[Asked]]:
    return [asked[: len(asked) // 2], asked[len(asked) // 2 :]]


def _is_there(answer: Answered) -> bool:
    return not isinstance(answer.outcome, FetchFailed | Gone)


def _as_first(first: Sequence[Answered], answers: Mapping[str, Answered]) -> dict[str, Answered]:
    """When no key was found, it is not a key that is wrong: each has the outcome of the first answer."""
    return {answer.key: replace(answers[answer.key], outcome=answer.outcome) for answer in first}


def _after(before: Answered, answer: Answered) -> Answered:
    """An answer for a key that was asked for before, with the cost of both."""
    return replace(
        answer,
        bytes=(before.bytes or 0) + (answer.bytes or 0),
        rate=answer.rate or before.rate,
        warnings=(*before.warnings, *answer.warnings),
    )


def _chunks(asked: list[Asked], size: int) -> Iterator[list[Asked]]:
    for at in range(0, len(asked), size):
        yield asked[at : at + size]


def _in_order(source: Source, asked: Sequence[Asked], by_key: dict[str, Answered]) -> Iterator[Answered]:
    """A key asked for twice costs its bytes once."""
    told: set[str] = set()
    for refresh in asked:
        if refresh.data_type != source.data_type:
            yield Answered(key=refresh.key, outcome=_objection(source, refresh) or _broken(ValueError(refresh.key)))
        elif refresh.key in told:
            yield replace(by_key[refresh.key], bytes=0, rate=None, warnings=())
        else:
            told.add(refresh.key)
            yield by_key[refresh.key]


def _answers(
    keys: Sequence[str], conversation: Conversation, verdict: Verdict, kept: Kept, secret: Secret | None
) -> list[Answered]:
    sent = conversation.sent > 0
    rows = [verdict.rows.get(key, 0) for key in keys]
    shares, sizes = share_out(conversation.wire_bytes, rows), share_out(conversation.body_bytes, rows)
    rate = None if conversation.rate is None else from_json(conversation.rate.to_json())
    warnings = tuple(
        replace(warning, message=plain(warning.message, secret))
        for warning in (*conversation.warnings, *verdict.warnings)
    )
    return [
        Answered(
            key=key,
            outcome=_marked(plainly(verdict.outcomes[key], secret), conversation),
            bytes=share if sent else None,
            size=size,
            rate=rate if at == 0 else None,
            warnings=warnings if at == 0 else (),
            sent=sent,
            kept=kept,
        )
        for at, (key, share, size) in enumerate(zip(keys, shares, sizes, strict=True))
    ]


def _marked(outcome: FetchOutcome, conversation: Conversation) -> FetchOutcome:
    """With the marks for the next conditional request, if a single answer was the whole fetch."""
    marked = conversation.marked
    if conversation.calls == 1 and marked != Marked() and isinstance(outcome, Fetched | Unchanged):
        return replace(outcome, etag=marked.etag, last_modified=marked.last_modified)
    return outcome


def _put_off(fact: PermitNotGranted) -> FetchThrottled:
    wait = None if fact.retry_after is None else fact.retry_after.total_seconds()
    return FetchThrottled(seconds=wait, message=str(fact), reason="no_permit")


def _broken(error: BaseException) -> FetchFailed:
    return FetchFailed(reason="fetcher", message=f"{type(error).__name__}: {error}")
