"""Random histories of sessions and gateways against a simple model, the clock in our hands."""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import asyncpg
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from livewell.kernel import DatabaseOptions, LivewellError, connect
from livewell.presence import GatewayGone
from livewell.presence.tests.surface import GATEWAY_GONE_AFTER, GONE_AFTER, NOON, PresenceSql
from livewell.testing import effort

T = TypeVar("T")

USERS = {1: "anna", 2: "anna", 3: "bert", 4: "bert", 5: "carl"}
KEYS = ["A", "B", "C"]
GATEWAYS = [None, None, "g", "h"]
# Who calls: nobody in particular, the gateway that has the session, or one that had it once.
callers = st.sampled_from([None, "g", "h"])
sessions = st.lists(st.sampled_from(sorted(USERS)), min_size=1, max_size=4)
pairs = st.lists(st.tuples(st.sampled_from(sorted(USERS)), st.sampled_from(KEYS)), min_size=1, max_size=6)


@dataclass
class Live:
    """A session as it must be."""

    gateway: str | None
    last_seen: datetime
    items: set[str] = field(default_factory=set)


class Model:
    """Who must be there; what is past its time counts until it is swept, but does nothing more."""

    def __init__(self) -> None:
        self.sessions: dict[int, Live] = {}
        self.gateways: dict[str, datetime] = {}

    def is_live(self, session: int, now: datetime) -> bool:
        live = self.sessions.get(session)
        if live is None:
            return False
        return live.last_seen > now - GONE_AFTER if live.gateway is None else not self.is_gone(live.gateway, now)

    def is_gone(self, gateway: str, now: datetime) -> bool:
        return self.gateways.get(gateway, now) <= now - GATEWAY_GONE_AFTER

    def is_of(self, session: int, caller: str | None) -> bool:
        return session in self.sessions and caller in {None, self.sessions[session].gateway}

    def viewers(self) -> dict[str, int]:
        found = defaultdict(set)
        for session, live in self.sessions.items():
            for key in live.items:
                found[key].add(USERS[session])
        return {key: len(users) for key, users in found.items()}


@dataclass(frozen=True)
class Desk:
    """A connection, and the loop it lives in."""

    loop: asyncio.AbstractEventLoop
    presence: PresenceSql

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)


class PresenceMachine(RuleBasedStateMachine):
    """Each rule makes one call and compares its answer with the model's, and afterwards the counts with the model."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.presence = desk.presence
        self.now = NOON
        self.model = Model()

    @initialize()
    def begin(self) -> None:
        names = ("session", "gateway", "subscription", "viewer", "item", "job_live")
        tables = ", ".join(f"livewell_private.{name}" for name in names)
        self.desk.run(self.presence.owner.execute(f"truncate {tables} cascade"))
        # So few that a second item is over it.
        self.desk.run(self.presence.owner.execute("select livewell.set_setting('presence.counted_items', '1')"))

    @rule(by=st.sampled_from([1, 20, 44, 45, 200, 299, 300, 301]))
    def time_passes(self, by: int) -> None:
        self.now += timedelta(seconds=by)

    @rule(asked=sessions, gateway=st.sampled_from(GATEWAYS))
    def connect(self, asked: list[int], gateway: str | None) -> None:
        call = self.presence.open(*((n, USERS[n]) for n in asked), gateway=gateway, now=self.now)
        if gateway and self.model.is_gone(gateway, self.now):
            self._is_refused(call)
            return
        answers = self.desk.run(call)
        if gateway:
            self.model.gateways.setdefault(gateway, self.now)
        was_live = {n: self.model.is_live(n, self.now) for n in asked}
        for n, answer in zip(asked, answers, strict=True):
            if not was_live[n]:
                assert answer == "opened"
                self.model.sessions[n] = Live(gateway, self.now)
            elif self.model.sessions[n].gateway != gateway:
                assert answer == "elsewhere"
            else:
                assert answer == "open"
                self.model.sessions[n].last_seen = self.now

    def _is_refused(self, call: Coroutine[Any, Any, Any]) -> None:
        try:
            self.desk.run(call)
        except GatewayGone:
            return
        raise AssertionError("a gateway came back by halves")

    @rule(n=st.sampled_from(sorted(USERS)), gateway=st.sampled_from(["g", "h"]), keys=st.lists(st.sampled_from(KEYS)))
    def resume(self, n: int, gateway: str, keys: list[str]) -> None:
        call = self.presence.resume(n, USERS[n], *keys, gateway=gateway, now=self.now)
        if self.model.is_gone(gateway, self.now):
            self._is_refused(call)
            return
        outcome, answers = self.desk.run(call)
        self.model.gateways.setdefault(gateway, self.now)
        is_live = self.model.is_live(n, self.now)
        assert outcome == ("open" if is_live else "opened")
        items = self.model.sessions[n].items if is_live else set()
        told = ["already" if key in items or key in keys[:at] else "subscribed" for at, key in enumerate(keys)]
        assert answers == told
        self.model.sessions[n] = Live(gateway, self.now, set(keys))

    @rule(n=st.sampled_from(sorted(USERS)), gateway=st.sampled_from(["g", "h"]))
    def resume_as_another(self, n: int, gateway: str) -> None:
        if self.model.is_live(n, self.now) and not self.model.is_gone(gateway, self.now):
            outcome = self.desk.run(self.presence.resume(n, "eve", "A", gateway=gateway, now=self.now))
            self.model.gateways.setdefault(gateway, self.now)
            assert outcome == ("taken", [])

    @rule(asked=pairs, caller=callers)
    def subscribe(self, asked: list[tuple[int, str]], caller: str | None) -> None:
        answers = self.desk.run(self.presence.subscribe(*asked, now=self.now, gateway=caller))
        for (n, key), answer in zip(asked, answers, strict=True):
            if not (self.model.is_live(n, self.now) and self.model.is_of(n, caller)):
                assert answer == "gone"
                continue
            assert answer == ("already" if key in self.model.sessions[n].items else "subscribed")
            self.model.sessions[n].items.add(key)

    @rule(asked=pairs, caller=callers)
    def unsubscribe(self, asked: list[tuple[int, str]], caller: str | None) -> None:
        answers = self.desk.run(self.presence.unsubscribe(*asked, now=self.now, gateway=caller))
        own = [n for n in self.model.sessions if self.model.is_of(n, caller)]
        there = {(n, key) for n in own for key in self.model.sessions[n].items}
        assert answers == ["unsubscribed" if pair in there else "not_there" for pair in asked]
        for n, key in there.intersection(asked):
            self.model.sessions[n].items.discard(key)

    @rule(asked=sessions)
    def renew(self, asked: list[int]) -> None:
        answers = self.desk.run(self.presence.renew(*asked, now=self.now))
        assert answers == ["renewed" if self.model.is_live(n, self.now) else "gone" for n in asked]
        for n in asked:
            if self.model.is_live(n, self.now) and self.model.sessions[n].gateway is None:
                self.model.sessions[n].last_seen = self.now

    @rule(gateway=st.sampled_from(["g", "h"]))
    def renew_gateway(self, gateway: str) -> None:
        live = gateway in self.model.gateways and not self.model.is_gone(gateway, self.now)
        assert self.desk.run(self.presence.renew_gateway(gateway, self.now)) == live
        if live:
            self.model.gateways[gateway] = self.now

    @rule(asked=sessions, caller=callers)
    def close(self, asked: list[int], caller: str | None) -> None:
        closed = self.desk.run(self.presence.close(*asked, now=self.now, gateway=caller))
        own = {n for n in asked if self.model.is_of(n, caller)}
        assert closed == len(own)
        for n in own:
            del self.model.sessions[n]

    @rule(gateway=st.sampled_from(["g", "h"]))
    def close_gateway(self, gateway: str) -> None:
        assert self.desk.run(self.presence.close_gateway(gateway, self.now)) == 0
        self.model.gateways.pop(gateway, None)
        self.model.sessions = {n: live for n, live in self.model.sessions.items() if live.gateway != gateway}

    @rule()
    def sweep(self) -> None:
        swept = self.desk.run(self.presence.sweep(self.now))
        left = {n: live for n, live in self.model.sessions.items() if self.model.is_live(n, self.now)}
        assert swept == len(self.model.sessions) - len(left)
        self.model.sessions = left
        self.model.gateways = {
            g: seen for g, seen in self.model.gateways.items() if not self.model.is_gone(g, self.now)
        }

    @rule(asked=pairs)
    def crash(self, asked: list[tuple[int, str]]) -> None:
        """A call that does not commit leaves nothing behind."""

        async def broken() -> None:
            await self.presence.caller.execute("begin")
            try:
                await self.presence.subscribe(*asked, now=self.now)
                await self.presence.close(*(n for n, _ in asked), now=self.now)
            except LivewellError:
                pass
            finally:
                await self.presence.caller.execute("rollback")

        self.desk.run(broken())

    @rule()
    def recount(self) -> None:
        counted = self.desk.run(self.presence.task("presence_recount", self.now))
        assert (counted["items_repaired"], counted["pairs_repaired"], counted["orphans_removed"]) == (0, 0, 0)

    @invariant()
    def counts_are_exact(self) -> None:
        assert self.desk.run(self.presence.viewers()) == self.model.viewers()
        assert self.desk.run(self.presence.is_exact())


@pytest.mark.hypothesis
def test_any_history_of_presence(owner_url: str, database_url: str) -> None:
    """Viewers are exact after any interleaving of connect, resume, subscribe, renew, unsubscribe, close, sweep and
    crash, by the gateway that has a session and by one that had it, alive or gone.
    """
    loop = asyncio.new_event_loop()
    service = loop.run_until_complete(connect(DatabaseOptions(url=database_url)))
    owner = loop.run_until_complete(asyncpg.connect(owner_url))
    desk = Desk(loop, PresenceSql(service, owner))
    try:
        desk.run(desk.presence.quote())
        run_state_machine_as_test(
            partial(PresenceMachine, desk),  # type: ignore[arg-type]
            settings=effort(25, steps=30, derandomize=True),
        )
    finally:
        desk.run(service.close())
        desk.run(owner.close())
        loop.close()
