"""As much of PostgreSQL's wire protocol as the proxy must understand to act at an exact message of the client."""

import re
import struct
from dataclasses import dataclass, field

_LENGTH = struct.Struct("!I")
_CODE_AFTER_LENGTH = struct.Struct("!II")
# Requests that come without a type byte and are followed by a startup message.
_NEGOTIATIONS = (80877103, 80877104)


@dataclass(frozen=True, kw_only=True)
class Message:
    """One whole message; `kind` is empty for those of the startup phase."""

    kind: bytes
    raw: bytes

    @property
    def body(self) -> bytes:
        return self.raw[len(self.kind) + _LENGTH.size :]


@dataclass(kw_only=True)
class MessageReader:
    """Cuts a stream into messages."""

    in_startup: bool
    _pending: bytes = b""

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are complete now; the rest is kept until more comes."""
        self._pending += data
        complete = []
        while (message := self._next()) is not None:
            complete.append(message)
            self._pending = self._pending[len(message.raw) :]
        return complete

    def _next(self) -> Message | None:
        kind_size = 0 if self.in_startup else 1
        if len(self._pending) < kind_size + _LENGTH.size:
            return None
        size = kind_size + _LENGTH.unpack_from(self._pending, kind_size)[0]
        if len(self._pending) < size:
            return None
        message = Message(kind=self._pending[:kind_size], raw=self._pending[:size])
        if self.in_startup:
            self.in_startup = _CODE_AFTER_LENGTH.unpack_from(message.raw)[1] in _NEGOTIATIONS
        return message


@dataclass(kw_only=True)
class Statements:
    """What a client's messages run: the text of each, also where it was prepared earlier under a name."""

    _prepared: dict[bytes, str] = field(default_factory=dict)

    def run_by(self, message: Message) -> str | None:
        """The statement that this message runs; None for messages that run nothing."""
        match message.kind:
            case b"Q":
                return _text(message.body)
            case b"P":
                name, _, rest = message.body.partition(b"\0")
                self._prepared[name] = _text(rest)
                return None
            case b"B":
                return self._prepared.get(message.body.split(b"\0", 2)[1])
            case _:
                return None


def matches(pattern: str, statement: str | None) -> bool:
    return statement is not None and re.search(pattern, statement, re.IGNORECASE) is not None


def _text(body: bytes) -> str:
    return body.partition(b"\0")[0].decode(errors="replace")
