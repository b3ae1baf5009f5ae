"""Frames: what travels between a gateway and its clients, as docs/reference/live.md says.

A message is a JSON list of frames. What goes out is made once, as text, however many get it; what comes in is checked
field by field, and nothing of it is believed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal
from uuid import UUID

from pydantic_core import from_json, to_json

from livewell.live.errors import BadFrame
from livewell.presence import Item

PROTOCOL = "livewell.1"
LARGEST_VALUE = 256 * 1024
LARGEST_MESSAGE = 256 * 1024
PING = '{"frame":"ping"}'

_LONGEST_TYPE, _LONGEST_KEY, _LONGEST_VERSION, _LONGEST_TOKEN = 63, 500, 60, 8192
_VERSION = re.compile(r"[0-9a-f.]{1,60}", re.ASCII)


class CloseCode(IntEnum):
    """Why a connection ends: below 4100 the client comes back, from there on it does not."""

    GOING_AWAY = 4000
    TOO_SLOW = 4001
    FAULT = 4002
    TOKEN_EXPIRED = 4003
    TOO_MANY_CONNECTIONS = 4004
    RESUMED_ELSEWHERE = 4005
    BAD_FRAME = 4100
    BAD_CREDENTIAL = 4101
    ORIGIN_NOT_ALLOWED = 4102
    UNKNOWN_PROTOCOL = 4103
    TOO_MUCH_ASKED = 4104


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """An item a client wants to see, and the version it has of it already."""

    item: Item
    version: str | None = None


@dataclass(frozen=True, kw_only=True)
class ClientHello:
    """The first frame of a client; with a session it is resumed, and its list of items is the one given."""

    token: str | None = None
    session: UUID | None = None
    items: Sequence[Wanted] = ()


@dataclass(frozen=True, kw_only=True)
class ClientWatch:
    items: Sequence[Wanted]


@dataclass(frozen=True, kw_only=True)
class ClientDrop:
    items: Sequence[Item]


@dataclass(frozen=True, kw_only=True)
class ClientToken:
    token: str


ClientFrame = ClientHello | ClientWatch | ClientDrop | ClientToken


def read_message(text: str) -> list[ClientFrame]:
    """The frames of a message of a client; those of kinds that nobody knows are left out.

    Raises:
        BadFrame: it is no list of frames.

    """
    try:
        message = from_json(text)
    except ValueError as error:
        raise BadFrame("a message is a JSON list of frames") from error
    if not isinstance(message, list):
        raise BadFrame("a message is a JSON list of frames")
    return [frame for sent in message if (frame := _read_frame(sent)) is not None]


def _read_frame(sent: object) -> ClientFrame | None:
    if not isinstance(sent, dict) or not isinstance(sent.get("frame"), str):
        raise BadFrame('a frame is an object with a "frame"')
    match sent["frame"]:
        case "hello":
            return ClientHello(
                token=_text(sent, "token", _LONGEST_TOKEN, required=False),
                session=_session(sent),
                items=wanted_of(sent, required=False),
            )
        case "watch":
            return ClientWatch(items=wanted_of(sent))
        case "drop":
            return ClientDrop(items=[wanted.item for wanted in wanted_of(sent)])
        case "token":
            token = _text(sent, "token", _LONGEST_TOKEN)
            assert token is not None  # noqa: S101 - it is required
            return ClientToken(token=token)
    return None


def wanted_of(sent: Mapping[str, Any], *, required: bool = True) -> list[Wanted]:
    """The items of a frame or of a request's body, each once."""
    items = sent.get("items", None if required else [])
    if not isinstance(items, list):
        raise BadFrame('"items" is a list of {"type", "key"}')
    wanted: dict[Item, Wanted] = {}
    for item in items:
        if not isinstance(item, dict):
            raise BadFrame('"items" is a list of {"type", "key"}')
        data_type, key = _text(item, "type", _LONGEST_TYPE), _text(item, "key", _LONGEST_KEY)
        version = _text(item, "version", _LONGEST_VERSION, required=False)
        if version is not None and not _VERSION.fullmatch(version):
            raise BadFrame("a version is what a row came with")
        assert data_type is not None and key is not None  # noqa: S101, PT018 - they are required
        named = Item(data_type, key)
        wanted[named] = Wanted(item=named, version=version)
    return list(wanted.values())


def _text(sent: Mapping[str, Any], name: str, longest: int, *, required: bool = True) -> str | None:
    text = sent.get(name)
    if text is None and not required:
        return None
    if not isinstance(text, str) or not 0 < len(text) <= longest:
        raise BadFrame(f'"{name}" is a text of 1 to {longest} characters')
    return text


def session_of(text: object) -> UUID:
    try:
        if isinstance(text, str):
            return UUID(text)
    except ValueError:
        pass
    raise BadFrame('"session" is the UUID a hello came with')


def _session(sent: Mapping[str, Any]) -> UUID | None:
    return None if sent.get("session") is None else session_of(sent["session"])


def _json(document: object) -> str:
    return to_json(document).decode()


class FramesOf:
    """The frames of one item: its type and key are written as JSON once."""

    __slots__ = ("_named",)

    def __init__(self, item: Item) -> None:
        self._named = f'"type":{_json(item.type)},"key":{_json(item.key)}'

    def row(self, value: str | None, version: str, age: int | None, fresh: int | None) -> str:
        """A row, its value as JSON text; one that is too large for a frame is fetched by GET."""
        if value is not None and len(value) > LARGEST_VALUE:
            told = '"large":true'
        else:
            told = f'"value":{"null" if value is None else value}'
        return f'{{"frame":"row",{self._named},{told},"version":"{version}",{_ages(age, fresh)}}}'

    def age(self, age: int | None, fresh: int | None) -> str:
        return f'{{"frame":"age",{self._named},{_ages(age, fresh)}}}'

    def state(
        self, state: Literal["idle", "refreshing", "waiting", "gone"], waiting_for: str | None, until: int | None
    ) -> str:
        waits = "null" if waiting_for is None else _json(waiting_for)
        return f'{{"frame":"state",{self._named},"is":"{state}","for":{waits},"until":{_number(until)}}}'

    def no(self, code: str, message: str, fix: str | None) -> str:
        return f'{{"frame":"no",{self._named},"code":{_json(code)},"message":{_json(message)},"fix":{_json(fix)}}}'


def hello(session: UUID, *, ping: int, items: int) -> str:
    return f'{{"frame":"hello","session":"{session}","ping":{ping},"items":{items}}}'


def bye(code: CloseCode, reason: str, come_back: int | None) -> str:
    return f'{{"frame":"bye","code":{int(code)},"reason":{_json(reason)},"come_back":{_number(come_back)}}}'


def _ages(age: int | None, fresh: int | None) -> str:
    return f'"age":{_number(age)},"fresh":{_number(fresh)}'


def _number(number: int | None) -> str:
    return "null" if number is None else str(number)
