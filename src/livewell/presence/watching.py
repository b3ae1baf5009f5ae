"""Sessions one by one, for programs that answer HTTP: each request opens, subscribes, renews or closes."""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID, uuid4

from livewell.kernel import Caller, Connection
from livewell.presence.errors import NotYourSession, PresenceBusy, TooMany
from livewell.presence.store import PresenceStore
from livewell.presence.types import Item, OpenOutcome, Subscribed, UnsubscribeOutcome


class Presence:
    """Who looks at what. Users are named by the program, which has verified who they are."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self.store = PresenceStore(caller)

    async def open(self, user: str, session: UUID | None = None) -> UUID:
        """Open a session of a user, or find it open; it lives as long as it, or the gateway that has it, is renewed."""
        session = session or uuid4()
        (outcome,) = await self.store.open_sessions([session], [user])
        if outcome is OpenOutcome.TAKEN:
            raise NotYourSession(f"session {session} is another user's", fix="let it be made anew")
        if outcome is OpenOutcome.TOO_MANY:
            raise TooMany(f"{user} has too many sessions open", fix="close some; presence.sessions_per_user")
        if outcome is OpenOutcome.BUSY:
            raise PresenceBusy(f"somebody holds session {session} in an open transaction", fix="try again")
        return session

    async def subscribe(self, session: UUID, items: Iterable[tuple[str, str]]) -> list[Subscribed]:
        """Look at items, (type, key) each; what became of each, in their order."""
        return await self.store.subscribe([(session, Item(*item)) for item in items])

    async def unsubscribe(self, session: UUID, items: Iterable[tuple[str, str]]) -> list[UnsubscribeOutcome]:
        return await self.store.unsubscribe([(session, Item(*item)) for item in items])

    async def heartbeat_interval(self) -> timedelta:
        """How often a client is to renew its session: what an answer to it says."""
        return await self.store.heartbeat_interval()

    async def renew(self, session: UUID) -> bool:
        """The heartbeat. False: the session is gone, and opened anew it looks at nothing."""
        return all(await self.store.renew_sessions([session]))

    async def close(self, session: UUID) -> bool:
        return await self.store.close_sessions([session]) > 0
