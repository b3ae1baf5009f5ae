"""Keeps the sessions of one gateway: a process that holds many connections and knows by itself who is there.

All its sessions are renewed in one call, every `presence.heartbeat_interval`. When the database has given the gateway
up, after an outage longer than `presence.gone_after`, they are opened again under a new name, with everything they
looked at; a round that could not do all of it is made up for by the next. What somebody else holds in an open
transaction is not waited for: it is asked for again each round, until it is free or no longer wanted.

Events: `gateway_reopened`.
"""

import asyncio
import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import TypeVar
from uuid import UUID, uuid4

from livewell.freshness import InvalidKey, UnknownType
from livewell.kernel import Logger
from livewell.presence.errors import GatewayGone
from livewell.presence.store import PresenceStore
from livewell.presence.types import Item, OpenOutcome, SubscribeOutcome, UnsubscribeOutcome

T = TypeVar("T")

_BATCH = 1_000
_LOOKS = {SubscribeOutcome.SUBSCRIBED, SubscribeOutcome.ALREADY, SubscribeOutcome.BUSY}

log = Logger("livewell.presence")


@dataclass(kw_only=True)
class _Held:
    """A connection as the gateway knows it."""

    user: str
    items: set[Item] = field(default_factory=set)


class GatewayKeeper:
    """An agent; what is opened and subscribed through it is kept until it is closed."""

    name = "gateway_keeper"

    def __init__(self, store: PresenceStore, *, label: str | None = None) -> None:
        self._store = store
        self._label = label or f"{socket.gethostname()}:{os.getpid()}"
        self._held: dict[UUID, _Held] = {}
        self._reopening = asyncio.Lock()
        # The name that is gone, while not everything it held is back under the new one.
        self._lost: str | None = None
        # What was busy: wanted, and to be let go of.
        self._wanted: set[tuple[UUID, Item]] = set()
        self._unwanted: set[tuple[UUID, Item]] = set()
        # Until the first round, which reads `presence.heartbeat_interval`: at once.
        self.interval = timedelta()
        self.gateway = self._new_name()

    @property
    def sessions(self) -> int:
        return len(self._held)

    async def open(self, sessions: Sequence[tuple[UUID, str]]) -> list[OpenOutcome]:
        """Open sessions, (id, user) each; those that were opened are kept."""
        outcomes = await self._open(sessions)
        for (session, user), outcome in zip(sessions, outcomes, strict=True):
            if outcome in {OpenOutcome.OPENED, OpenOutcome.OPEN}:
                self._held.setdefault(session, _Held(user=user))
        return outcomes

    async def subscribe(self, pairs: Sequence[tuple[UUID, Item]]) -> list[SubscribeOutcome]:
        """Look at items; a kept session that turns out to be gone is opened again first."""
        gateway = self.gateway
        outcomes = await self._store.subscribe(pairs)
        missed = (
            session in self._held
            for (session, _), outcome in zip(pairs, outcomes, strict=True)
            if outcome is SubscribeOutcome.GONE
        )
        if any(missed):
            await self._reopen(gateway)
            outcomes = await self._store.subscribe(pairs)
        for (session, item), outcome in zip(pairs, outcomes, strict=True):
            if outcome in _LOOKS and session in self._held:
                self._held[session].items.add(item)
                self._unwanted.discard((session, item))
                if outcome is SubscribeOutcome.BUSY:
                    self._wanted.add((session, item))
        return outcomes

    async def unsubscribe(self, pairs: Sequence[tuple[UUID, Item]]) -> list[UnsubscribeOutcome]:
        for session, item in pairs:
            if session in self._held:
                self._held[session].items.discard(item)
        async with self._reopening:
            outcomes = await self._store.unsubscribe(pairs)
        for pair, outcome in zip(pairs, outcomes, strict=True):
            self._wanted.discard(pair)
            self._unwanted.discard(pair)
            if outcome is UnsubscribeOutcome.BUSY:
                self._unwanted.add(pair)
        return outcomes

    async def close(self, sessions: Sequence[UUID]) -> int:
        for session in sessions:
            self._held.pop(session, None)
        async with self._reopening:
            return await self._store.close_sessions(sessions)

    async def run_once(self) -> None:
        """Renew all sessions; open them again when they are gone."""
        self.interval = await self._store.heartbeat_interval()
        gateway = self.gateway
        if self._held and not await self._store.renew_gateway(gateway):
            await self._reopen(gateway)
        elif self._lost is not None:
            await self._reopen(self._lost)
        await self._ask_again()

    async def stop(self) -> None:
        """End all sessions: whoever was here is somewhere else now. Those that somebody holds are the sweeper's."""
        self._held.clear()
        left, before = await self._store.close_gateway(self.gateway), 0
        while left not in {0, before}:
            left, before = await self._store.close_gateway(self.gateway), left

    async def _open(self, sessions: Sequence[tuple[UUID, str]]) -> list[OpenOutcome]:
        ids, users = [session for session, _ in sessions], [user for _, user in sessions]
        gateway = self.gateway
        try:
            return await self._store.open_sessions(ids, users, gateway)
        except GatewayGone:
            await self._reopen(gateway)
            return await self._store.open_sessions(ids, users, self.gateway)

    async def _reopen(self, gone: str) -> None:
        """Once for each name that is gone, whoever noticed it; and again, as long as it was not done to the end.

        Who leaves meanwhile waits for it, and so is not brought back by what was sent before.
        """
        async with self._reopening:
            if gone == self.gateway:
                self._lost, self.gateway = gone, self._new_name()
            if self._lost is None:
                return
            is_done = True
            for batch in _batches(list(self._held)):
                held = [(session, self._held[session].user) for session in batch if session in self._held]
                outcomes = await self._store.open_sessions(
                    [session for session, _ in held], [user for _, user in held], self.gateway
                )
                is_done = is_done and OpenOutcome.BUSY not in outcomes
            self._unwanted.clear()
            for pairs in _batches([(session, item) for session, held in self._held.items() for item in held.items]):
                await self._subscribe_again([(session, item) for session, item in pairs if self._looks(session, item)])
            log.warning("gateway_reopened", gateway=self.gateway, gone=self._lost, sessions=len(self._held))
            if is_done:
                self._lost = None

    async def _subscribe_again(self, pairs: Sequence[tuple[UUID, Item]]) -> None:
        """Look at items again; one whose type went meanwhile, or that is no key of it any more, holds up no other."""
        try:
            outcomes = await self._store.subscribe(pairs)
            self._wanted -= set(pairs)
            self._wanted |= {
                pair for pair, outcome in zip(pairs, outcomes, strict=True) if outcome is SubscribeOutcome.BUSY
            }
        except (InvalidKey, UnknownType):
            if half := len(pairs) // 2:
                await self._subscribe_again(pairs[:half])
                await self._subscribe_again(pairs[half:])
            else:
                self._wanted -= set(pairs)

    async def _ask_again(self) -> None:
        """What was busy, in batches of its own; what still is comes with the next round."""
        self._wanted = {(session, item) for session, item in self._wanted if self._looks(session, item)}
        for pairs in _batches(list(self._wanted)):
            await self._subscribe_again(pairs)
        self._unwanted = {(session, item) for session, item in self._unwanted if not self._looks(session, item)}
        for pairs in _batches(list(self._unwanted)):
            await self.unsubscribe(pairs)

    def _looks(self, session: UUID, item: Item) -> bool:
        return session in self._held and item in self._held[session].items

    def _new_name(self) -> str:
        """Of one life of one process: under an old name the sessions of a process that died would be kept alive."""
        return f"{self._label}:{uuid4().hex[:8]}"


def _batches(things: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(things)
    while batch := list(islice(rest, _BATCH)):
        yield batch
