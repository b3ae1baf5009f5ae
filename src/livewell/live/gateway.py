"""The gateway: takes clients, and keeps what they look at before their eyes.

It begins by listening, compares all versions, and only then takes clients. A client's wish is noted here first, then
written in the database, and what came back is compared with what the client has; so a change between any two of these
steps is heard of. A notice is a hint: it says that an item is to be looked at, and never what is in it. After every
LISTEN, and now and then always, all versions are compared, by inequality: a backup that was put back has smaller ones.

How it fails. While the database is away clients keep what they have; when it is back everything is compared. A client
that reads slowly is told the newest of each item; one that does not read at all is cut off. When rights have changed,
whom it may concern is told nothing until they were looked at anew.

Events: `live_started`, `live_stopped`, `live_client_ended`, `live_round_failed`, `live_rights_unknown`.
"""

import asyncio
import random
import time
from collections import Counter as Count
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from pydantic_core import from_json

from livewell.access import (
    RIGHTS_CHANNEL,
    Doorkeeper,
    ExpiredCredential,
    InvalidCredential,
    ReadClass,
    Readers,
)
from livewell.fetching import CHANGES_CHANNEL, FetchStore, read_notice
from livewell.freshness import FreshnessStore, InvalidKey, UnknownType
from livewell.kernel import PASSING, Database, Listener, LivewellError, Logger, wait_for_any
from livewell.live.batches import Batcher
from livewell.live.client import LiveClient
from livewell.live.desk import viewer_name
from livewell.live.errors import BadFrame, GatewayClosing, NotVisible, TooMuchAsked
from livewell.live.frames import (
    ClientDrop,
    ClientFrame,
    ClientHello,
    ClientToken,
    ClientWatch,
    CloseCode,
    FramesOf,
    Wanted,
    hello,
    read_message,
)
from livewell.live.looking import Looker
from livewell.live.metrics import CLIENTS, ENDED
from livewell.live.types import GatewayOptions
from livewell.live.views import Clock, View
from livewell.presence import (
    GatewayKeeper,
    Item,
    OpenOutcome,
    PresenceBusy,
    PresenceStore,
    SessionGone,
    Subscribed,
    SubscribeOutcome,
    TooMany,
)
from livewell.settings import Settings

_LOOKS = {SubscribeOutcome.SUBSCRIBED, SubscribeOutcome.ALREADY, SubscribeOutcome.BUSY}
_ROUND = 1.0
_LINGER = timedelta(seconds=1)

_Known = dict[tuple[ReadClass, Item], bool]

log = Logger("livewell.live")


class Gateway:
    """Takes clients from `start` until `close`, whenever `is_open`."""

    def __init__(
        self,
        database: Database,
        doorkeeper: Doorkeeper,
        readers: Readers,
        options: GatewayOptions | None = None,
        *,
        now: Clock = time.monotonic,
    ) -> None:
        self.options = options or GatewayOptions()
        self._database = database
        self._doorkeeper = doorkeeper
        self._readers = readers
        self._now = now
        self._keeper = GatewayKeeper(PresenceStore(database), on_lost=self._lost)
        self._fetches = FetchStore(database)
        self._looker = Looker(
            FreshnessStore(database),
            readers,
            doubt_lasts=self.options.doubt_lasts,
            now=now,
            on_refused=self._refused,
        )
        self._listener = Listener(database.options, [CHANGES_CHANNEL, RIGHTS_CHANNEL], self._hear, self._hear_of_all)
        self._subscriber: Batcher[tuple[UUID, Item], Subscribed] = Batcher(self._subscribe)
        self._opener: Batcher[tuple[UUID, str], OpenOutcome] = Batcher(self._keeper.open)
        self._clients: dict[UUID, LiveClient] = {}
        self._addresses: Count[str] = Count()
        self._users: Count[str] = Count()
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._rights_woken = asyncio.Event()
        self._rights_due: list[dict[str, Any]] = []
        # What was refused after it was watched: to be no presence any more.
        self._ended: list[tuple[UUID, Item]] = []
        self.is_open = asyncio.Event()

    @property
    def clients(self) -> Collection[LiveClient]:
        return self._clients.values()

    def views(self) -> Iterator[View]:
        """What is held here, an item as each class sees it."""
        return self._looker.views()

    # Its life.

    def start(self) -> None:
        """Begin; clients are taken once it listens and knows what there is."""
        self._tasks = [
            asyncio.create_task(self._listener.run(self._stop)),
            asyncio.create_task(self._looker.run(self._stop)),
            asyncio.create_task(self._keep()),
            asyncio.create_task(self._look_at_rights()),
            asyncio.create_task(self._open()),
        ]

    async def _open(self) -> None:
        if self._listener.available:
            await wait_for_any(self._listener.listening, self._stop)
        await wait_for_any(self._looker.compare_all(), self._stop)
        if not self._stop.is_set():
            self.is_open.set()
            log.info("live_started", gateway=self._keeper.gateway, listening=self._listener.listening.is_set())

    async def close(self) -> None:
        """Send all clients elsewhere, by and by, and end their sessions."""
        self.is_open.clear()
        await self._drain()
        self._stop.set()
        self._rights_woken.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(*PASSING):
            await self._keeper.stop()
        log.info("live_stopped", gateway=self._keeper.gateway)

    async def _drain(self) -> None:
        """Goodbyes spread over a while, so that not all come back at one moment."""
        clients = list(self._clients.values())
        random.shuffle(clients)
        seconds = self.options.drain_within.total_seconds() if len(clients) > 1 else 0
        for number, client in enumerate(clients):
            client.end(CloseCode.GOING_AWAY, "the gateway is being stopped", random.randrange(100, 2000))
            if number % 100 == 99:  # noqa: PLR2004 - a hundred goodbyes are sent together
                await asyncio.sleep(seconds * 100 / len(clients))

    # Its clients.

    @asynccontextmanager
    async def admitted(self, first: ClientHello, *, address: str) -> AsyncIterator[LiveClient]:
        """A client for the length of a block; its session ends with it.

        Raises:
            InvalidCredential: its token or access key is none, or is no longer.
            TooMany: there are too many connections from its address, or of its user.
            GatewayClosing: nobody is taken any more.

        """
        if not self.is_open.is_set():
            raise GatewayClosing(
                "the gateway takes nobody now: it is being started or stopped", fix="come back in a moment"
            )
        ended: LiveClient | None = None
        too_many = TooMany(
            "too many connections from one address", fix="share one connection; live.connections_per_address"
        )
        try:
            with _counted(self._addresses, address, self.options.connections_per_address, too_many):
                principal = await self._doorkeeper.admit(first.token)
                client = LiveClient(session=uuid4(), principal=principal, credential=first.token, now=self._now)
                with self._one_of_its_user(principal.user):
                    try:
                        await self._begin(client, first)
                        yield client
                    finally:
                        self._leave(client)
                        if self._clients.get(client.session) is client:
                            del self._clients[client.session]
                            CLIENTS.set(len(self._clients))
                            ended = client
        finally:
            # Its place is free by now, however long the database takes to hear of it.
            if ended is not None:
                await asyncio.shield(asyncio.ensure_future(self._close_session(ended)))

    def _one_of_its_user(self, user: str | None) -> AbstractContextManager[None]:
        if user is None:
            return nullcontext()
        too_many = TooMany(f"{user} has too many connections", fix="close some; live.connections_per_user")
        return _counted(self._users, user, self.options.connections_per_user, too_many)

    async def _begin(self, client: LiveClient, first: ClientHello) -> None:
        """Give a client its session, the one it asks for unless that is another user's, and what it looks at."""
        ping = round(self.options.ping_every.total_seconds() * 1000)
        if first.session is None or not await self._resume(client, first.session, first.items):
            (opened,) = await self._opener.ask([(client.session, viewer_name(client.principal, client.session))])
            if isinstance(opened, LivewellError):
                raise opened
            if opened is OpenOutcome.TOO_MANY:
                raise TooMany("this user has too many sessions open", fix="close some; presence.sessions_per_user")
            self._replace(client)
            client.tell_text("hello", hello(client.session, ping=ping, items=self.options.items_per_client))
            await self._watch(client, first.items)
        else:
            client.tell_text("hello", hello(client.session, ping=ping, items=self.options.items_per_client))

    async def _resume(self, client: LiveClient, session: UUID, wanted: Sequence[Wanted]) -> bool:
        """Take over a session with exactly these items; false when it is not this user's, or cannot be had now."""
        self._require_few(client, wanted)
        classes, allowed = await self._allowed(client, wanted)
        user = viewer_name(client.principal, session)
        with self._looker.joining():
            try:
                resumed = await self._keeper.resume(
                    session, user, [want.item for want in allowed], dwell=self.options.dwell
                )
            except (InvalidKey, UnknownType):
                # One of them is none: each is asked for by itself then.
                return False
            if resumed.outcome not in {OpenOutcome.OPENED, OpenOutcome.OPEN}:
                return False
            client.session = session
            self._replace(client)
            self._join(client, allowed, resumed.items, classes)
        return True

    def _replace(self, client: LiveClient) -> None:
        """One connection has a session: who had it here before is told so."""
        before = self._clients.get(client.session)
        self._clients[client.session] = client
        CLIENTS.set(len(self._clients))
        if before is not None:
            self._leave(before)
            before.end(CloseCode.RESUMED_ELSEWHERE, "its session was resumed by another connection")

    async def _close_session(self, client: LiveClient) -> None:
        """Who said goodbye is gone; who was cut off may be back in a moment."""
        with suppress(*PASSING):
            await self._keeper.close([client.session], linger=timedelta() if client.said_goodbye else _LINGER)

    def _leave(self, client: LiveClient) -> None:
        for item in list(client.views):
            self._looker.leave(client, item)

    def _lost(self, session: UUID) -> None:
        """Another gateway has this session now."""
        client = self._clients.pop(session, None)
        if client is not None:
            CLIENTS.set(len(self._clients))
            self._leave(client)
            client.end(CloseCode.RESUMED_ELSEWHERE, "its session was resumed at another gateway")

    # What clients say.

    async def hear(self, client: LiveClient, text: str) -> None:
        """Do what a message of a client asks for.

        Raises:
            BadFrame: it is no message.
            InvalidCredential: the token it brings is none.

        """
        for frame in read_message(text):
            await self._obey(client, frame)

    async def _obey(self, client: LiveClient, frame: ClientFrame) -> None:
        match frame:
            case ClientHello():
                raise BadFrame("a hello is the first frame, and comes once")
            case ClientWatch(items=items):
                await self._watch(client, items)
            case ClientDrop(items=items):
                await self._drop(client, items)
            case ClientToken(token=token):
                await self._renew(client, token)

    async def _watch(self, client: LiveClient, wanted: Sequence[Wanted]) -> None:
        """Look at items: those that may not be looked at are answered each with its reason."""
        self._require_few(client, wanted)
        classes, allowed = await self._allowed(client, wanted)
        if not allowed:
            return
        # Noted first: what changes from here on is heard of.
        with self._looker.joining():
            answers = await self._subscriber.ask([(client.session, want.item) for want in allowed])
            self._join(client, allowed, answers, classes)

    def _require_few(self, client: LiveClient, wanted: Sequence[Wanted]) -> None:
        if len(client.views.keys() | {want.item for want in wanted}) > self.options.items_per_client:
            raise TooMuchAsked(
                f"more than {self.options.items_per_client} items on one connection",
                fix="drop some; presence.items_per_session",
            )

    def _join(
        self,
        client: LiveClient,
        wanted: Sequence[Wanted],
        answers: Sequence[Subscribed | LivewellError],
        classes: Mapping[str, ReadClass],
    ) -> None:
        if self._clients.get(client.session) is not client:
            return
        for want, answer in zip(wanted, answers, strict=True):
            fault = answer if isinstance(answer, LivewellError) else _fault(answer)
            if fault is not None:
                _refuse(client, want.item, fault)
            elif not isinstance(answer, LivewellError) and answer.item_id is not None:
                self._looker.join(client, want.item, answer.item_id, classes[want.item.type], want.version)

    async def _allowed(
        self, client: LiveClient, wanted: Sequence[Wanted], known: _Known | None = None
    ) -> tuple[dict[str, ReadClass], list[Wanted]]:
        """The class for each type, and what of it may be watched; the rest is refused here.

        What is `known` of a class is not asked again.
        """
        known = {} if known is None else known
        classes: dict[str, ReadClass] = {}
        allowed: list[Wanted] = []
        for data_type in dict.fromkeys(want.item.type for want in wanted):
            items = [want for want in wanted if want.item.type == data_type]
            try:
                read_class = await self._readers.class_of(client.principal, data_type)
                new = [want.item.key for want in items if (read_class, want.item) not in known]
                for key, may in zip(new, await self._readers.may_watch(read_class, data_type, new), strict=True):
                    known[read_class, Item(data_type, key)] = may
            except PASSING:
                raise
            except LivewellError as fact:
                for want in items:
                    _refuse(client, want.item, fact)
                continue
            classes[data_type] = read_class
            for want in items:
                if known[read_class, want.item]:
                    allowed.append(want)
                else:
                    _refuse(client, want.item, NotVisible("you may not look at this item"))
        return classes, allowed

    async def _subscribe(self, pairs: Sequence[tuple[UUID, Item]]) -> Sequence[Subscribed]:
        return await self._keeper.subscribe(pairs, dwell=self.options.dwell)

    async def _drop(self, client: LiveClient, items: Iterable[Item]) -> None:
        left = [item for item in items if item in client.views]
        for item in left:
            self._looker.leave(client, item)
        if left:
            await self._keeper.unsubscribe([(client.session, item) for item in left], linger=_LINGER)

    async def _renew(self, client: LiveClient, token: str) -> None:
        """Another token of the same user: what it may see is looked at anew."""
        principal = await self._doorkeeper.admit(token)
        if principal.user != client.principal.user:
            raise BadFrame("a new token is of the same user")
        client.principal, client.credential = principal, token
        await self._reclass(client)

    # What the database says.

    def _hear(self, channel: str, payload: str) -> None:
        """A hint: of items whose versions are to be looked at, or of rights."""
        if channel == RIGHTS_CHANNEL:
            self._doubt_rights(_rights_told(payload))
        elif (told := read_notice(payload)) is not None:
            if told:
                self._looker.hear(told.items())
            else:
                self._looker.compare_all()

    def _hear_of_all(self) -> None:
        """LISTEN has begun: what was told before was not heard."""
        self._looker.compare_all()
        self._doubt_rights({})

    def _refused(self, view: View, fact: LivewellError) -> None:
        """Nobody of this class may look at an item any more."""
        for client in list(view.clients):
            self._refuse_watched(client, view.held.item, fact)

    def _refuse_watched(self, client: LiveClient, item: Item, fact: LivewellError) -> None:
        self._looker.leave(client, item)
        _refuse(client, item, fact)
        self._ended.append((client.session, item))
        self._rights_woken.set()

    # Rights.

    def _doubt_rights(self, told: dict[str, Any]) -> None:
        """Whom it may concern is told nothing until rights were looked at anew."""
        for client in self._clients.values():
            if _concerns(told, client):
                client.is_held_back = True
        self._rights_due.append(told)
        self._rights_woken.set()

    async def _look_at_rights(self) -> None:
        """Look at rights when something is told of them, and at all of them every `live.recheck`."""
        looked_at = self._now()
        while not self._stop.is_set():
            left = looked_at + self.options.recheck_every.total_seconds() - self._now()
            await wait_for_any(self._rights_woken, self._stop, timeout=max(0.0, left))
            self._rights_woken.clear()
            if self._now() >= looked_at + self.options.recheck_every.total_seconds():
                self._rights_due.append({})
            due, self._rights_due = self._rights_due, []
            try:
                for told in due:
                    await self._check_rights(told)
                    looked_at = looked_at if told else self._now()
                await self._end_refused()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again, and nobody is told meanwhile
                log.warning("live_rights_unknown", reason=str(error))
                self._rights_due += due
                await wait_for_any(self._stop, timeout=_ROUND)
                self._rights_woken.set()

    async def _check_rights(self, told: dict[str, Any]) -> None:
        self._doorkeeper.forget()
        self._readers.forget(told.get("type"))
        clients = [client for client in self._clients.values() if _concerns(told, client)]
        known: _Known = {}
        for client in clients:
            await self._check_client(client, known)
        for view in self._looker.views():
            if told.get("type") in {None, view.held.item.type}:
                self._looker.read_anew(view)

    async def _check_client(self, client: LiveClient, known: _Known) -> None:
        try:
            client.principal = await self._doorkeeper.admit(client.credential)
        except ExpiredCredential:
            # It has a while to send another.
            client.let_go_on()
            return
        except InvalidCredential as fact:
            self._leave(client)
            client.end(CloseCode.BAD_CREDENTIAL, fact.message)
            return
        await self._reclass(client, known)
        client.let_go_on()

    async def _reclass(self, client: LiveClient, known: _Known | None = None) -> None:
        """Put what a client looks at under the classes that are its own now; what it may not see goes."""
        views = list(client.views.values())
        wanted = [Wanted(item=view.held.item) for view in views]
        before = set(client.views)
        classes, allowed = await self._allowed(client, wanted, known)
        kept = {want.item for want in allowed}
        for view in views:
            item = view.held.item
            if item in before - kept:
                self._looker.leave(client, item)
                self._ended.append((client.session, item))
            elif client.views.get(item) is view and classes[item.type] != view.read_class:
                self._looker.join(client, item, view.held.id, classes[item.type], None)

    async def _end_refused(self) -> None:
        """What was refused is no presence any more."""
        if self._ended:
            ended = list(self._ended)
            await self._keeper.unsubscribe(ended)
            del self._ended[: len(ended)]

    # Now and then.

    async def _keep(self) -> None:
        """Renew the sessions, compare, and look after clients that are silent, slow or past their token."""
        renew_at = compare_at = 0.0
        while not self._stop.is_set():
            now = self._now()
            try:
                if now >= renew_at:
                    await self._keeper.run_once()
                    renew_at = now + self._keeper.interval.total_seconds()
                if now >= compare_at:
                    self.options = self.options.following(await Settings.read(self._database))
                    compare_at = now + (await self._compare_pause())
                    self._looker.compare_all()
            except Exception as error:  # noqa: BLE001 - the next round comes, whatever this one met
                log.warning("live_round_failed", reason=str(error))
            self._looker.look_around()
            self._look_after_clients(now)
            await wait_for_any(self._stop, timeout=_ROUND)

    async def _compare_pause(self) -> float:
        hears = self._listener.listening.is_set() and not await self._fetches.notices_are_quiet()
        pause = self.options.compare_every if hears else self.options.compare_unheard_every
        return pause.total_seconds()

    def _look_after_clients(self, now: float) -> None:
        clock = datetime.now(UTC)
        for client in list(self._clients.values()):
            if (
                client.writing_since is not None
                and now - client.writing_since > self.options.slow_after.total_seconds()
            ):
                ENDED.labels(code=int(CloseCode.TOO_SLOW)).inc()
                log.info("live_client_ended", session=str(client.session), code=int(CloseCode.TOO_SLOW))
                client.cut()
            elif (
                client.principal.expires_at is not None
                and clock > client.principal.expires_at + self.options.token_grace
            ):
                self._leave(client)
                client.end(CloseCode.TOKEN_EXPIRED, "the token has ended", 0)
            elif now - client.told_at >= self.options.ping_every.total_seconds():
                client.ping()


@contextmanager
def _counted(counts: Count[str], name: str, most: int, too_many: TooMany) -> Iterator[None]:
    """One more of a name for the length of a block, if there are not too many."""
    if counts[name] >= most:
        raise too_many
    counts[name] += 1
    try:
        yield
    finally:
        counts[name] -= 1
        if not counts[name]:
            del counts[name]


def _refuse(client: LiveClient, item: Item, fact: LivewellError) -> None:
    client.tell_text(item, FramesOf(item).no(fact.code, fact.message, fact.fix))


def _fault(answer: Subscribed) -> LivewellError | None:
    """Why a subscription did not come about."""
    if answer.outcome in _LOOKS and answer.item_id is not None:
        return None
    if answer.outcome is SubscribeOutcome.TOO_MANY:
        return TooMany("too many items in one session", fix="drop some; presence.items_per_session")
    if answer.outcome is SubscribeOutcome.BUSY:
        return PresenceBusy("somebody holds this item in an open transaction", fix="watch it again in a moment")
    return SessionGone("the session is gone", fix="connect again")


def _rights_told(payload: str) -> dict[str, Any]:
    """What a hint of rights names; one that says nothing is about everything."""
    try:
        told = from_json(payload)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _concerns(told: dict[str, Any], client: LiveClient) -> bool:
    """Whether a hint of rights may be about a client; one that names nothing is about everybody."""
    if "user" in told:
        return bool(client.principal.user == told["user"])
    if "access_key" in told:
        return bool(client.principal.access_key == told["access_key"])
    if "type" in told:
        return any(item.type == told["type"] for item in client.views)
    return True
