"""What is answered: the rows of the symbols asked for, or what a fault makes of them."""

import gzip
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from http import HTTPStatus

from pydantic_core import to_json

from livewell.simulator.asked import UNKNOWN_ENDPOINT, Asked
from livewell.simulator.body_faults import MEGABYTE, spoiled_body
from livewell.simulator.chat import Reply
from livewell.simulator.faults import Fault, FaultKind
from livewell.simulator.limits import Verdict, http_date
from livewell.simulator.options import CHAT, SimulatorOptions, UnknownSymbol
from livewell.simulator.row_faults import FIELD_FAULTS, ROW_FAULTS, spoiled_rows
from livewell.simulator.status_faults import JSON, error_answer
from livewell.simulator.wire import Answer, Ending, Framing
from livewell.simulator.world import Part, Row, World

Headers = tuple[tuple[str, str], ...]

_SMALLEST_TO_COMPRESS = 200
_STATES_BACK = 3
_ENDINGS = {
    FaultKind.HANG: Ending.HANG,
    FaultKind.HANG_IN_BODY: Ending.HANG_IN_BODY,
    FaultKind.RESET: Ending.RESET,
    FaultKind.RESET_IN_BODY: Ending.RESET_IN_BODY,
    FaultKind.LENGTH_TOO_LONG: Ending.CLOSE,
    FaultKind.LENGTH_TOO_SHORT: Ending.CLOSE,
}
_ENCODINGS = {
    FaultKind.BOMB: "gzip",
    FaultKind.EMPTY_MEMBERS: "gzip",
    FaultKind.BAD_GZIP: "gzip",
    FaultKind.UNKNOWN_ENCODING: "x-made-up",
}
_SENT_AS_IT_IS = {
    *_ENCODINGS,
    *(FaultKind.LARGE, FaultKind.DENSE, FaultKind.EMPTY, FaultKind.NESTED),
    *(FaultKind.TINY_CHUNKS, FaultKind.CHUNK_EXTENSIONS),
}
_MUCH = 30 * MEGABYTE


class Answerer:
    """Makes answers; sends nothing and counts nothing."""

    def __init__(self, options: SimulatorOptions, world: World) -> None:
        self._options = options
        self._world = world

    def refusal(self, asked: Asked, verdict: Verdict, told: Headers) -> Answer | None:
        """Why a call gets nothing, if that is so: no such place, no key, too much."""
        if asked.endpoint == UNKNOWN_ENDPOINT:
            return error_answer(HTTPStatus.NOT_FOUND, "there is nothing here", told)
        if asked.method != ("POST" if asked.endpoint == CHAT else "GET"):
            return error_answer(HTTPStatus.METHOD_NOT_ALLOWED, f"{asked.method} does nothing here", told)
        if self._options.api_keys and asked.api_key not in self._options.api_keys:
            return error_answer(HTTPStatus.UNAUTHORIZED, "a valid API key is required", told)
        if not verdict.allowed:
            return error_answer(HTTPStatus.TOO_MANY_REQUESTS, "limit reached, come back later", told)
        return None

    def data(self, asked: Asked, fault: Fault | None, told: Headers) -> Answer:
        """The rows asked for; 304 when the caller has them, unless a fault is to be seen."""
        known = [key for key in asked.keys if self._world.knows(key)]
        if not known and self._options.unknown is UnknownSymbol.NOT_FOUND:
            return error_answer(HTTPStatus.NOT_FOUND, "no such symbol", told)
        parts = tuple(self._world.part(asked.endpoint, key) for key in known)
        body, validators = _written(parts)
        if fault is not None:
            body = self._spoiled(asked, known, fault) if fault.kind in ROW_FAULTS else body
            return self._finished(asked, spoiled_body(body, fault), fault, (*told, *_validators(body, parts)))
        if self._options.conditional and _has_it(asked, validators):
            return Answer(status=HTTPStatus.NOT_MODIFIED, headers=(*told, *validators))
        return self._finished(asked, (body,), None, (*told, *validators) if self._options.conditional else told)

    def chat(self, asked: Asked, reply: Reply, fault: Fault | None, told: Headers) -> Answer:
        if reply.refused is not None:
            return error_answer(HTTPStatus.BAD_REQUEST, reply.refused, told)
        document = reply.document
        if fault is not None and fault.kind in FIELD_FAULTS:
            (document,) = spoiled_rows([document], fault)
        body = to_json(document)
        pieces = (body,) if fault is None else spoiled_body(body, fault)
        return self._finished(asked, pieces, fault, told)

    def _spoiled(self, asked: Asked, known: list[str], fault: Fault) -> bytes:
        back = _STATES_BACK if fault.kind is FaultKind.OLD_DATA else 0
        rows: list[Row] = [row for key in known for row in self._world.rows(asked.endpoint, key, back=back)]
        return to_json(spoiled_rows(rows, fault))

    def _finished(self, asked: Asked, pieces: tuple[bytes, ...], fault: Fault | None, headers: Headers) -> Answer:
        headers = (JSON, *headers, ("Vary", "Accept-Encoding"))
        as_it_is = fault is not None and fault.kind in _SENT_AS_IT_IS
        if self._options.gzip and asked.takes_gzip and not as_it_is and len(pieces[0]) >= _SMALLEST_TO_COMPRESS:
            pieces = (_compressed(b"".join(pieces)),)
            headers = (*headers, ("Content-Encoding", "gzip"))
        answer = Answer(headers=headers, pieces=pieces)
        return answer if fault is None else _on_a_bad_wire(answer, fault)


def _on_a_bad_wire(answer: Answer, fault: Fault) -> Answer:
    """What a fault does to the transfer rather than to what is transferred."""
    answer = replace(answer, ending=_ENDINGS.get(fault.kind, Ending.KEEP))
    if fault.kind in _ENCODINGS:
        return replace(answer, headers=(*answer.headers, ("Content-Encoding", _ENCODINGS[fault.kind])))
    match fault.kind:
        case FaultKind.SLOW:
            return replace(answer, pause=fault.seconds)
        case FaultKind.DRIP:
            return replace(answer, drip=fault.seconds)
        case FaultKind.LENGTH_TOO_LONG:
            return replace(answer, stated_length=answer.length + 100)
        case FaultKind.LENGTH_TOO_SHORT:
            return replace(answer, stated_length=answer.length // 2)
        case FaultKind.LARGE_HEADERS:
            return replace(answer, headers=(*answer.headers, *((f"X-Padding-{n}", "x" * 2000) for n in range(100))))
        case FaultKind.HTML:
            return replace(answer, headers=(("Content-Type", "text/html"), *answer.headers[1:]))
    return _in_a_bad_frame(answer, fault)


def _in_a_bad_frame(answer: Answer, fault: Fault) -> Answer:
    """What a fault does to how the parts of an answer are told apart."""
    match fault.kind:
        case FaultKind.CHUNKED:
            return replace(answer, framing=Framing.CHUNKED, pieces=_halves(answer.pieces))
        case FaultKind.TINY_CHUNKS:
            return replace(answer, framing=Framing.TINY_CHUNKS)
        case FaultKind.CHUNK_EXTENSIONS:
            return replace(answer, framing=Framing.CHUNKED, extensions=fault.size or _MUCH)
        case FaultKind.ANNOUNCED:
            return replace(answer, announced=fault.size or _MUCH)
        case FaultKind.NO_LENGTH:
            return replace(answer, framing=Framing.CLOSE)
    return answer


@lru_cache(maxsize=128)
def _written(parts: tuple[Part, ...]) -> tuple[bytes, Headers]:
    """The body that the parts make, and what marks it; remembered, so that it is compressed once as well."""
    body = b"[" + b",".join(part.text for part in parts) + b"]"
    return body, _validators(body, parts)


def _validators(body: bytes, parts: tuple[Part, ...]) -> Headers:
    modified = max((part.version.since for part in parts), default=0.0)
    tag = f'W/"{blake2b(body, digest_size=8).hexdigest()}"'
    if not modified:
        return (("ETag", tag),)
    return (("ETag", tag), ("Last-Modified", http_date(datetime.fromtimestamp(modified, UTC))))


def _has_it(asked: Asked, validators: Headers) -> bool:
    """Whether the caller has this very state; a tag counts for more than a date."""
    told = dict(validators)
    if asked.etags:
        wanted = told["ETag"].removeprefix("W/")
        return "*" in asked.etags or wanted in {tag.removeprefix("W/") for tag in asked.etags}
    if asked.modified_since is None or "Last-Modified" not in told:
        return False
    return told["Last-Modified"] == http_date(asked.modified_since) or asked.modified_since > _parsed(told)


def _parsed(told: dict[str, str]) -> datetime:
    return datetime.strptime(told["Last-Modified"], "%a, %d %b %Y %H:%M:%S %Z").replace(tzinfo=UTC)


@lru_cache(maxsize=256)
def _compressed(body: bytes) -> bytes:
    return gzip.compress(body, compresslevel=6, mtime=0)


def _halves(pieces: tuple[bytes, ...]) -> tuple[bytes, ...]:
    whole = b"".join(pieces)
    return whole[: len(whole) // 2], whole[len(whole) // 2 :]
