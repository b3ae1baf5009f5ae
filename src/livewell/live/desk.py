"""Answers those who come without a connection: what is stored of items, and that somebody looks at them."""

import time
from collections.abc import Sequence
from uuid import UUID

from livewell.access import Doorkeeper, Principal, ReadClass, Readers, ReadItem
from livewell.freshness import FreshnessStore, ItemState
from livewell.kernel import PASSING, Database, LivewellError
from livewell.live.errors import NotVisible
from livewell.live.types import ItemTold
from livewell.live.views import HeldItem, View
from livewell.presence import (
    Item,
    NotYourSession,
    OpenOutcome,
    PresenceBusy,
    PresenceStore,
    SubscribeOutcome,
    TooMany,
)


class Desk:
    """One for a process; each answer is made from the database."""

    def __init__(self, database: Database, doorkeeper: Doorkeeper, readers: Readers) -> None:
        self._doorkeeper = doorkeeper
        self._readers = readers
        self._states = FreshnessStore(database)
        self._presence = PresenceStore(database)

    async def read(self, credential: str | None, items: Sequence[Item]) -> dict[Item, ItemTold | LivewellError]:
        """What is stored of items, for who shows this credential; for each that is refused, why."""
        principal = await self._doorkeeper.admit(credential)
        allowed, refused = await self._allowed(principal, items)
        states = await self._states_of(list(allowed))
        told: dict[Item, ItemTold | LivewellError] = {**refused}
        for data_type in dict.fromkeys(item.type for item in allowed):
            keys = [item.key for item in allowed if item.type == data_type]
            read_class = allowed[Item(data_type, keys[0])]
            rows = await self._readers.read(read_class, data_type, keys)
            for key in keys:
                item = Item(data_type, key)
                told[item] = _told(item, read_class, states.get(item), rows[key])
        return told

    async def look(
        self, credential: str | None, session: UUID, items: Sequence[Item]
    ) -> dict[Item, SubscribeOutcome | LivewellError]:
        """Look at exactly these items until the session is not renewed in time.

        Raises:
            NotYourSession: it is another user's.
            TooMany: the user has too many sessions.

        """
        principal = await self._doorkeeper.admit(credential)
        allowed, refused = await self._allowed(principal, items)
        resumed = await self._presence.resume(None, session, viewer_name(principal, session), list(allowed))
        if resumed.outcome is OpenOutcome.TAKEN:
            raise NotYourSession("this session is another user's", fix="take a new UUID")
        if resumed.outcome is OpenOutcome.TOO_MANY:
            raise TooMany("this user has too many sessions open", fix="close some; presence.sessions_per_user")
        if resumed.outcome is OpenOutcome.BUSY:
            raise PresenceBusy("somebody holds this session in an open transaction", fix="ask again in a moment")
        looked = {item: outcome.outcome for item, outcome in zip(allowed, resumed.items, strict=True)}
        return {item: looked.get(item) or refused[item] for item in items}

    async def leave(self, credential: str | None, session: UUID) -> None:
        """Look at nothing any more; a session that is not there is left already."""
        principal = await self._doorkeeper.admit(credential)
        resumed = await self._presence.resume(None, session, viewer_name(principal, session), [])
        if resumed.outcome is OpenOutcome.TAKEN:
            raise NotYourSession("this session is another user's", fix="name one of yours")
        await self._presence.close_sessions([session])

    async def _states_of(self, items: Sequence[Item]) -> dict[Item, ItemState]:
        """How items stand; asked before their rows are read."""
        ids = await self._states.find_items([item.type for item in items], [item.key for item in items])
        known = {item_id: item for item, item_id in zip(items, ids, strict=True) if item_id is not None}
        return {known[state.item_id]: state for state in await self._states.item_states(list(known))}

    async def _allowed(
        self, principal: Principal, items: Sequence[Item]
    ) -> tuple[dict[Item, ReadClass], dict[Item, LivewellError]]:
        """The class by which each item may be seen, and why others may not."""
        allowed: dict[Item, ReadClass] = {}
        refused: dict[Item, LivewellError] = {}
        for data_type in dict.fromkeys(item.type for item in items):
            asked = [item for item in items if item.type == data_type]
            try:
                read_class = await self._readers.class_of(principal, data_type)
                may = await self._readers.may_watch(read_class, data_type, [item.key for item in asked])
            except PASSING:
                raise
            except LivewellError as fact:
                refused.update(dict.fromkeys(asked, fact))
                continue
            for item, is_allowed in zip(asked, may, strict=True):
                if is_allowed:
                    allowed[item] = read_class
                else:
                    refused[item] = NotVisible("you may not look at this item")
        return allowed, refused


def viewer_name(principal: Principal, session: UUID) -> str:
    """Who looks: each anonymous client is a user of its own."""
    return principal.user or f"anon:{session}"


def _told(item: Item, read_class: ReadClass, state: ItemState | None, row: ReadItem) -> ItemTold:
    now = time.monotonic()
    held = HeldItem(item, 0)
    if state is not None and state.version is not None:
        held.learn(state, state.version, now)
    view = View(held, read_class)
    view.take(max(held.version, 0), row.value, visible=row.visible)
    age, fresh = view.ages(now)
    condition = view.condition
    return ItemTold(
        version=view.version_text,
        value=view.value,
        age=age,
        fresh=fresh,
        state=condition.state,
        waiting_for=condition.waiting_for,
        until=None if condition.until is None else max(0, round((condition.until - now) * 1000)),
    )
