"""Keeps the sessions of one gateway: a process that holds many connections and knows by itself who is there.

All its sessions are renewed in one call, every `live.renew_every`. Every call names the gateway and touches only what
is still its own. When the database has given the gateway up, after an outage longer than `live.gone_after`, its
sessions are opened again under a new name, with everything they looked at, but for those that another gateway has by
now; a round that could not do all of it is made up for by the next. Each round compares what the database has with what
is kept here: a session that is somebody else's now is lost (`on_lost`), one whose close did not reach the database is
closed. What somebody else holds in an open transaction is not waited for: it is asked for again each round, until it is
free or no longer wanted.

Who leaves may linger, so that somebody who comes right back was never gone, and who comes may dwell, so that nothing is
spent on somebody who leaves right away.

Events: `gateway_reopened`.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import TypeVar
from uuid import UUID, uuid4

from livewell.freshness import InvalidKey, UnknownType
from livewell.kernel import PASSING, Logger
from livewell.presence.delays import Delays
from livewell.presence.errors import GatewayGone
from livewell.presence.store import AT_ONCE, PresenceStore
from livewell.presence.types import Item, OpenOutcome, Resumed, Subscribed, SubscribeOutcome, UnsubscribeOutcome

T = TypeVar("T")
Pair = tuple[UUID, Item]

_BATCH = 1_000
_KEPT = {OpenOutcome.OPENED, OpenOutcome.OPEN}
_LOOKS = {SubscribeOutcome.SUBSCRIBED, SubscribeOutcome.ALREADY, SubscribeOutcome.BUSY}

log = Logger("livewell.presence")


@dataclass(kw_only=True, eq=False)
class _Held:
    """A connection as the gateway knows it."""

    user: str
    items: set[Item] = field(default_factory=set)


class GatewayKeeper:
    """An agent; what is opened, resumed and subscribed through it is kept until it is closed or lost."""

    name = "gateway_keeper"

    def __init__(
        self, store: PresenceStore, *, label: str | None = None, on_lost: Callable[[UUID], None] | None = None
    ) -> None:
        self._store = store
        self._label = label or f"{socket.gethostname()}:{os.getpid()}"
        self._on_lost = on_lost
        self._held: dict[UUID, _Held] = {}
        # Sessions and subscriptions on their way: the database may have them already, and no round should end them.
        self._coming: set[Pair | UUID] = set()
        self._reopening = asyncio.Lock()
        # The name that is gone, while not everything it held is back under the new one.
        self._lost: str | None = None
        # What was busy: wanted, and to be let go of.
        self._wanted: set[Pair] = set()
        self._unwanted: set[Pair] = set()
        # What is being ended at this moment: who comes back to it comes after that, or would be ended with it.
        self._ending: dict[Pair | UUID, asyncio.Future[None]] = {}
        self._leaving: Delays[Pair] = Delays(self._leave)
        self._closing: Delays[UUID] = Delays(self._close_quietly)
        self._dwelling: Delays[tuple[UUID, Item, int]] = Delays(self._ask_for)
        # Until the first round, which reads `live.renew_every` and `live.dwell`: at once.
        self.interval = AT_ONCE
        self.dwell = AT_ONCE
        self.gateway = self._new_name()

    @property
    def sessions(self) -> int:
        return len(self._held)

    async def open(self, sessions: Sequence[tuple[UUID, str]]) -> list[OpenOutcome]:
        """Open sessions, (id, user) each; those that were opened are kept."""
        ids, users = [session for session, _ in sessions], [user for _, user in sessions]
        with self._expecting([], ids):
            await self._ended(ids)
            outcomes = await self._at_gateway(lambda gateway: self._store.open_sessions(ids, users, gateway))
            for session, user, outcome in zip(ids, users, outcomes, strict=True):
                if outcome in _KEPT:
                    self._held.setdefault(session, _Held(user=user))
        return outcomes

    async def resume(self, session: UUID, user: str, items: Sequence[Item], *, dwell: timedelta = AT_ONCE) -> Resumed:
        """Take a session over from wherever it is, or open it; it looks at exactly these items then."""
        pairs = [(session, item) for item in items]
        with self._expecting(pairs, [session]):
            await self._ended([session, *pairs])
            resumed = await self._at_gateway(
                lambda gateway: self._store.resume(gateway, session, user, items, dwell=dwell)
            )
            if resumed.outcome in _KEPT:
                self._held[session] = _Held(user=user)
                self._look(pairs, resumed.items, dwell)
                self._unwanted.update((session, item) for item in resumed.left)
        return resumed

    async def subscribe(self, pairs: Sequence[Pair], *, dwell: timedelta = AT_ONCE) -> list[Subscribed]:
        """Look at items; a kept session that is gone with its gateway is opened again first, one of another is lost.

        With a time to dwell, as `dwell` of the keeper, they are refreshed for it only if it is still there then.
        """
        with self._expecting(pairs, []):
            await self._ended(pairs)
            gateway = self.gateway
            answers = await self._store.subscribe(pairs, gateway, dwell=dwell)
            gone = {
                session
                for (session, _), answer in zip(pairs, answers, strict=True)
                if answer.outcome is SubscribeOutcome.GONE and session in self._held
            }
            if gone and await self._is_back(gateway, gone):
                answers = await self._store.subscribe(pairs, self.gateway, dwell=dwell)
            self._look(pairs, answers, dwell)
        return answers

    async def unsubscribe(self, pairs: Sequence[Pair], *, linger: timedelta = AT_ONCE) -> None:
        """Look away; who lingers looks on for so long, and stays when it subscribes again meanwhile."""
        if linger:
            self._leaving.begin(pairs, linger)
        else:
            self._leaving.call_off(pairs)
            await self._unsubscribe(pairs)

    async def close(self, sessions: Sequence[UUID], *, linger: timedelta = AT_ONCE) -> None:
        """End sessions; one that lingers is there for so long, and stays when it is opened or resumed meanwhile."""
        if linger:
            self._closing.begin(sessions, linger)
        else:
            self._closing.call_off(sessions)
            await self._close(sessions)

    async def run_once(self) -> None:
        """Renew all sessions; open them again when they are gone; find those that are another's by now."""
        pace = await self._store.gateway_pace()
        self.interval, self.dwell = pace.renew_every, pace.dwell
        gateway = self.gateway
        if self._held and not await self._store.renew_gateway(gateway):
            await self._reopen(gateway)
        elif self._lost is not None:
            await self._reopen(self._lost)
        if self._held:
            await self._compare()
        await self._ask_again()

    async def stop(self) -> None:
        """End all sessions: whoever was here is somewhere else now. Those that somebody holds are the sweeper's."""
        for delays in (self._leaving, self._closing, self._dwelling):
            await delays.stop()
        self._held.clear()
        left, before = await self._store.close_gateway(self.gateway), 0
        while left not in {0, before}:
            left, before = await self._store.close_gateway(self.gateway), left

    @contextmanager
    def _expecting(self, pairs: Collection[Pair], sessions: Collection[UUID]) -> Iterator[None]:
        """Who comes does not leave any more, however it meant to."""
        self._leaving.call_off(pairs)
        self._closing.call_off(sessions)
        self._coming.update(pairs, sessions)
        try:
            yield
        finally:
            self._coming.difference_update(pairs, sessions)

    @contextmanager
    def _until_ended(self, keys: Sequence[Pair] | Sequence[UUID]) -> Iterator[None]:
        ended = asyncio.get_running_loop().create_future()
        self._ending.update(dict.fromkeys(keys, ended))
        try:
            yield
        finally:
            ended.set_result(None)
            for key in keys:
                if self._ending.get(key) is ended:
                    del self._ending[key]

    async def _ended(self, keys: Iterable[Pair | UUID]) -> None:
        for ended in {self._ending[key] for key in keys if key in self._ending}:
            await asyncio.shield(ended)

    async def _at_gateway(self, call: Callable[[str], Awaitable[T]]) -> T:
        """Call under the name of the gateway; again when that is gone, or was given up while the call was under way."""
        while True:
            gateway = self.gateway
            try:
                answer = await call(gateway)
            except GatewayGone:
                await self._reopen(gateway)
            else:
                if gateway == self.gateway:
                    return answer

    def _look(self, pairs: Sequence[Pair], answers: Sequence[Subscribed], dwell: timedelta) -> None:
        """Take note of what sessions look at from now on."""
        dwelling = []
        for pair, answer in zip(pairs, answers, strict=True):
            session, item = pair
            if answer.outcome in _LOOKS and session in self._held:
                self._held[session].items.add(item)
                self._unwanted.discard(pair)
                if answer.outcome is SubscribeOutcome.BUSY:
                    self._wanted.add(pair)
                elif answer.outcome is SubscribeOutcome.SUBSCRIBED and answer.item_id is not None:
                    dwelling.append((session, item, answer.item_id))
        if dwell and dwelling:
            self._dwelling.begin(dwelling, dwell)

    async def _is_back(self, gateway: str, gone: Iterable[UUID]) -> bool:
        """Bring everything back if the gateway was given up; if it was not, these sessions are somebody else's."""
        if self._lost is not None or not await self._store.renew_gateway(gateway):
            await self._reopen(self._lost or gateway)
            return True
        for session in gone:
            self._lose(session)
        return False

    async def _unsubscribe(self, pairs: Sequence[Pair]) -> None:
        for session, item in pairs:
            if session in self._held:
                self._held[session].items.discard(item)
        with self._until_ended(pairs):
            async with self._reopening:
                outcomes = await self._store.unsubscribe(pairs, self.gateway)
        self._wanted.difference_update(pairs)
        self._unwanted.difference_update(pairs)
        self._unwanted |= {
            pair for pair, outcome in zip(pairs, outcomes, strict=True) if outcome is UnsubscribeOutcome.BUSY
        }

    async def _close(self, sessions: Sequence[UUID]) -> None:
        for session in sessions:
            self._held.pop(session, None)
        with self._until_ended(sessions):
            async with self._reopening:
                await self._store.close_sessions(sessions, self.gateway)

    async def _leave(self, pairs: list[Pair]) -> None:
        """Who lingered has left; while the database is away it is left to the next round."""
        self._unwanted.update(pairs)
        with suppress(*PASSING):
            await self._unsubscribe(pairs)

    async def _close_quietly(self, sessions: list[UUID]) -> None:
        with suppress(*PASSING):
            await self._close(sessions)

    async def _ask_for(self, dwelt: list[tuple[UUID, Item, int]]) -> None:
        """Who stayed asks for what it looks at; what fails here the checker does, to which it is due by now."""
        stayed = [
            (session, item_id)
            for session, item, item_id in dwelt
            if self._looks(session, item) and (session, item) not in self._leaving
        ]
        if stayed:
            with suppress(*PASSING):
                await self._store.ask_for_items(stayed, self.gateway)

    async def _compare(self) -> None:
        """Find sessions that are not this gateway's any more, and those that are, though nobody is there."""
        gateway, before = self.gateway, dict(self._held)
        there = await self._store.sessions_of_gateway(gateway)
        if gateway != self.gateway or self._lost is not None:
            return
        for session, held in before.items():
            if session not in there and self._held.get(session) is held and session not in self._coming:
                self._lose(session)
        astray = [session for session in there - before.keys() - self._held.keys() if session not in self._coming]
        if astray:
            with self._until_ended(astray):
                await self._store.close_sessions(astray, gateway)

    def _lose(self, session: UUID) -> None:
        if self._held.pop(session, None) is not None and self._on_lost is not None:
            self._on_lost(session)

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
            if self._held:
                log.warning("gateway_reopened", gateway=self.gateway, gone=self._lost, sessions=len(self._held))
            if is_done:
                self._lost = None

    async def _subscribe_again(self, pairs: Sequence[Pair]) -> None:
        """Look at items again; one whose type went meanwhile, or that is no key of it any more, holds up no other."""
        try:
            answers = await self._store.subscribe(pairs, self.gateway)
            self._wanted -= set(pairs)
            self._wanted |= {
                pair for pair, answer in zip(pairs, answers, strict=True) if answer.outcome is SubscribeOutcome.BUSY
            }
        except (InvalidKey, UnknownType):
            if half := len(pairs) // 2:
                await self._subscribe_again(pairs[:half])
                await self._subscribe_again(pairs[half:])
            else:
                self._wanted -= set(pairs)

    async def _ask_again(self) -> None:
        """What was busy, in batches of its own; what still is comes with the next round.

        Who looks away meanwhile waits for it, and so is not brought back by what was sent before.
        """
        async with self._reopening:
            self._wanted = {(session, item) for session, item in self._wanted if self._looks(session, item)}
            for pairs in _batches(list(self._wanted)):
                await self._subscribe_again([(session, item) for session, item in pairs if self._looks(session, item)])
        self._unwanted = {(session, item) for session, item in self._unwanted if not self._looks(session, item)}
        for pairs in _batches(list(self._unwanted)):
            await self._unsubscribe([pair for pair in pairs if pair not in self._coming and not self._looks(*pair)])

    def _looks(self, session: UUID, item: Item) -> bool:
        return session in self._held and item in self._held[session].items

    def _new_name(self) -> str:
        """Of one life of one process: under an old name the sessions of a process that died would be kept alive."""
        return f"{self._label}:{uuid4().hex[:8]}"


def _batches(things: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(things)
    while batch := list(islice(rest, _BATCH)):
        yield batch
