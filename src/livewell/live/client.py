"""One client of a gateway: who it is, what it looks at, and what it is still to be told.

There is one slot per item, and the newest wins: a client that reads slowly gets the newest version of each item and
nothing in between, and holds no more memory than it has items. Whoever writes to it takes messages with `next()`; when
that stands still for too long the client is cut off.
"""

import asyncio
from collections.abc import Callable
from uuid import UUID

from livewell.access import Principal
from livewell.live.frames import PING, CloseCode, bye
from livewell.live.views import Clock, Part, View
from livewell.presence import Item

# So many characters make a message; the rest waits for the next.
_FULL_MESSAGE = 512 * 1024


class LiveClient:
    """What a gateway has to tell one client."""

    def __init__(self, *, session: UUID, principal: Principal, credential: str | None, now: Clock) -> None:
        self.session = session
        self.principal = principal
        self.credential = credential
        self.views: dict[Item, View] = {}
        # The versions it said it had, of items it was told nothing of yet.
        self.has: dict[Item, str] = {}
        # Frames of its own, each under what it is about: of items that it may not watch, and its hello.
        self._own: dict[object, str] = {}
        self._due: dict[View, Part] = {}
        self._woken = asyncio.Event()
        self._now = now
        self._is_ended = False
        # While rights are looked at anew nothing is told.
        self.is_held_back = False
        self.close_code: CloseCode | None = None
        # Whether it left by itself.
        self.said_goodbye = False
        self.told_at = now()
        # Since when it has not taken what it was sent.
        self.writing_since: float | None = None
        self.cut: Callable[[], None] = _nothing

    def tell(self, view: View, parts: Part) -> None:
        """Say what of a view is new; what is not told yet is told once."""
        if self._is_ended:
            return
        self._due[view] = self._due.get(view, Part(0)) | parts
        self._woken.set()

    def tell_text(self, about: object, frame: str) -> None:
        """Tell a frame of its own; another one about the same replaces it."""
        if self._is_ended:
            return
        self._own[about] = frame
        self._woken.set()

    def forget(self, view: View) -> None:
        """Tell nothing more of a view."""
        self._due.pop(view, None)

    def let_go_on(self) -> None:
        self.is_held_back = False
        self._woken.set()

    def end(self, code: CloseCode, reason: str, come_back: int | None = None) -> None:
        """Say goodbye, as the last thing."""
        if not self._is_ended:
            self.close_code = code
            self._is_ended = True
            self._due.clear()
            self._own = {"bye": bye(code, reason, come_back)}
            self._woken.set()

    @property
    def is_ended(self) -> bool:
        return self._is_ended

    @property
    def is_due(self) -> bool:
        """Whether there is something to tell."""
        return bool(self._own or self._due)

    def ping(self) -> None:
        self.tell_text("ping", PING)

    async def next(self) -> str | None:
        """The next message, as soon as there is something to tell; None after the goodbye."""
        while True:
            message = self._take()
            if message is not None:
                return message
            if self._is_ended:
                return None
            self._woken.clear()
            await self._woken.wait()

    def _take(self) -> str | None:
        if self.is_held_back and not self._is_ended:
            return None
        frames = list(self._own.values())
        self._own.clear()
        now, size = self._now(), 0
        while self._due and size < _FULL_MESSAGE:
            view, parts = next(iter(self._due.items()))
            del self._due[view]
            for part in _told(parts):
                frame = view.text(part, now)
                size += len(frame)
                frames.append(frame)
        if not frames:
            return None
        self.told_at = now
        return f"[{','.join(frames)}]"


def _told(parts: Part) -> tuple[Part, ...]:
    """A row has its age in it."""
    if Part.ROW in parts:
        return (Part.ROW, Part.STATE) if Part.STATE in parts else (Part.ROW,)
    return tuple(parts)


def _nothing() -> None:
    """Nobody writes to it yet."""
