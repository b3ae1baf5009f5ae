"""One fetch and its requests: what is said to the provider, what it says, and what that costs."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote, urlencode

from livewell.budgets import RateFacts, Secret, read_rate_headers
from livewell.fetching.client import Client, Reply, Request, Sending
from livewell.fetching.errors import CallEnded
from livewell.fetching.fetcher import Question, encoded_path
from livewell.fetching.judge import Warned, judge_status, read_document
from livewell.fetching.memory import Reservation
from livewell.fetching.sources import Source
from livewell.fetching.types import FetchFailed, FetchOutcome, Refused

MOST_CALLS = 100
_SAYS_LIMITS = re.compile(r"rate|retry", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Marked:
    """What the last answer was marked with, for a conditional request; and what this one is."""

    etag: str | None = None
    last_modified: str | None = None


class Conversation:
    """The requests of one fetch. The first that is not answered ends it for good."""

    def __init__(
        self,
        client: Client,
        source: Source,
        reservation: Reservation,
        *,
        keys: int,
        secret: Secret | None,
        sending: Sending,
        before: Marked,
        clock: Callable[[], datetime],
    ) -> None:
        self._client = client
        self._source = source
        self._reservation = reservation
        self._keys = keys
        self._secret = secret
        self._sending = sending
        self._before = before
        self._clock = clock
        self._turn = asyncio.Lock()
        self.calls = 0
        self.sent = 0
        self.wire_bytes = 0
        self.body_bytes = 0
        self.ended: FetchOutcome | None = None
        self.rate: RateFacts | None = None
        self.warnings: list[Warned] = []
        self.marked = Marked()

    async def ask(self, question: Question) -> Any:
        """The document that answers a question; raises `CallEnded` when there is none. One request at a time."""
        async with self._turn:
            return await self._ask(question)

    async def _ask(self, question: Question) -> Any:
        if self.ended is None:
            self.calls += 1
            self.ended = self._objection(question)
        if self.ended is not None:
            raise CallEnded(f"this fetch has ended: {self.ended.word}")
        reply = await self._client.get(self._request(question), self._source.limits, self._reservation, self._counted)
        self.wire_bytes += reply.wire_bytes
        if reply.not_permitted is not None:
            raise reply.not_permitted
        self.body_bytes += len(reply.body)
        rate = self._learn(reply)
        self.ended = judge_status(reply, rate, keys=self._keys)
        document = (
            None
            if self.ended is not None
            else read_document(reply, max_bytes=self._source.limits.max_bytes, content_type=question.content_type)
        )
        if isinstance(document, Refused):
            self.ended = document
        if self.ended is not None:
            raise CallEnded(f"this fetch has ended: {self.ended.word}")
        return document

    async def _counted(self) -> None:
        """Permission for one request; what was permitted counts as sent."""
        await self._sending()
        self.sent += 1

    def _objection(self, question: Question) -> FetchOutcome | None:
        if self.calls > MOST_CALLS:
            return FetchFailed(reason="fetcher", message=f"more than {MOST_CALLS} requests for one fetch")
        parts = unquote(question.path).split("/")
        if not question.path.startswith("/") or {".", ".."} & set(parts):
            return Refused(reason="invalid_key", message="the path does not stay below the provider's base URL")
        if self._source.key_place is not None and self._secret is None:
            return FetchFailed(reason="no_key", message="the provider wants an API key, and none was given")
        return None

    def _request(self, question: Question) -> Request:
        path = question.path if question.is_encoded else encoded_path(question.path)
        query, secret_headers = dict(question.query), {}
        if self._source.key_place is not None and self._secret is not None:
            place, name = self._source.key_place
            if place == "query":
                query[name] = self._secret.reveal()
            else:
                value = self._secret.reveal()
                secret_headers[name] = f"Bearer {value}" if place == "bearer" else value
        tail = f"?{urlencode(query, quote_via=quote)}" if query else ""
        headers = {**question.headers, **self._conditions()}
        return Request(
            to=self._source.to,
            url=f"{self._source.to.base}{path}{tail}",
            headers=headers,
            secret_headers=secret_headers,
        )

    def _conditions(self) -> Mapping[str, str]:
        """Only the single request of a single key can say that everything is unchanged."""
        if self._keys != 1 or self.calls != 1:
            return {}
        said = {"If-None-Match": self._before.etag, "If-Modified-Since": self._before.last_modified}
        return {name: value for name, value in said.items() if value is not None}

    def _learn(self, reply: Reply) -> RateFacts:
        told = [(name, value) for name, value in reply.headers.items() if _SAYS_LIMITS.search(name)]
        if told or reply.status == 429:  # noqa: PLR2004 - Too Many Requests
            told += [("Date", value) for value in reply.headers.getall("Date", ())]
            rate = read_rate_headers(reply.status or 0, told, now=self._clock())
        else:
            rate = RateFacts(status=reply.status or 0)
        if reply.status is not None and rate.tell_anything():
            self.rate = rate
        if reply.status == 200 and not reply.has_length:  # noqa: PLR2004 - OK
            self.warnings.append(Warned(code="content_length_missing", message="the answer has no Content-Length"))
        one_call = self._keys == 1 and self.calls == 1
        self.marked = Marked(
            etag=_header(reply, "ETag") if one_call else None,
            last_modified=_header(reply, "Last-Modified") if one_call else None,
        )
        return rate


def _header(reply: Reply, name: str) -> str | None:
    value = reply.headers.get(name)
    return value if value and len(value) <= 1000 and value.isprintable() and value.isascii() else None  # noqa: PLR2004
