"""Random histories of two tasks and three nodes against a simple model, the clock in our hands."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import asyncpg
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from livewell.schedule.tests.sql_surface import MINUTE, NOON, SECOND, Schedule
from livewell.testing import effort

T = TypeVar("T")

EVERY = {"a": MINUTE, "b": 5 * MINUTE}
LEASE = 30 * SECOND
BACKOFF = 2 * MINUTE
names = st.sampled_from(sorted(EVERY))
nodes = st.sampled_from(["n1", "n2", "n3"])
picks = st.integers(0, 100)


@dataclass
class Model:
    """What a task must be: when it is due, who may end it, and until when nobody else may have it."""

    due: datetime = NOON
    enabled: bool = True
    token: UUID | None = None
    until: datetime = NOON
    tokens: list[UUID] = field(default_factory=list)
    accepted: int = 0
    lost: int = 0

    def reason(self, now: datetime, *, force: bool) -> str | None:
        if self.token is not None and self.until > now:
            return "locked"
        if force or (self.enabled and self.due <= now):
            return None
        return "not_due" if self.enabled else "disabled"


@dataclass(frozen=True)
class Desk:
    """A connection and the loop it lives in."""

    loop: asyncio.AbstractEventLoop
    service: "asyncpg.Connection[asyncpg.Record]"
    owner: "asyncpg.Connection[asyncpg.Record]"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)


class ScheduleMachine(RuleBasedStateMachine):
    """Each rule makes one call and compares its answer with the model's, and afterwards the tables with the model."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.schedule = Schedule(desk.service)
        self.now = NOON
        self.models = {name: Model() for name in EVERY}

    @initialize()
    def begin(self) -> None:
        self.desk.run(
            self.desk.owner.execute("delete from livewell_private.task; delete from livewell_private.task_run")
        )
        for name, every in EVERY.items():
            fields = {"every": every, "lease": LEASE, "backoff_min": BACKOFF, "backoff_max": BACKOFF}
            self.desk.run(self.schedule.put(name, NOON, **fields))

    @rule(by=st.sampled_from([1, 15, 30, 59, 60, 61, 3600]))
    def time_passes(self, by: int) -> None:
        self.now += timedelta(seconds=by)

    @rule(name=names, node=nodes, force=st.booleans())
    def take(self, name: str, node: str, force: bool) -> None:  # noqa: FBT001 - Hypothesis passes it by name
        model = self.models[name]
        taken = self.desk.run(self.schedule.take(name, self.now, node, force=force))
        assert taken["reason"] == model.reason(self.now, force=force)
        if taken["reason"] is None:
            model.lost += model.token is not None
            model.token, model.until = taken["token"], self.now + LEASE
            model.tokens.append(taken["token"])

    @rule(name=names, pick=picks)
    def renew(self, name: str, pick: int) -> None:
        model = self.models[name]
        if model.tokens:
            token = model.tokens[-1 - pick % min(3, len(model.tokens))]
            answer = self.desk.run(self.schedule.renew(name, token, self.now))
            assert answer == ("renewed" if token == model.token else "lost")
            if answer == "renewed":
                model.until = self.now + LEASE

    @rule(name=names, pick=picks, outcome=st.sampled_from(["succeeded", "failed"]))
    def finish(self, name: str, pick: int, outcome: str) -> None:
        model = self.models[name]
        if model.tokens:
            token = model.tokens[-1 - pick % min(3, len(model.tokens))]
            answer = self.desk.run(
                self.schedule.finish(name, token, self.now, outcome, result={"n": 1}, error={"message": "no"})
            )
            assert answer == (outcome if token == model.token else "lost")
            if answer != "lost":
                model.token = None
                model.accepted += 1
                model.due = self.now + (EVERY[name] if outcome == "succeeded" else BACKOFF)

    @rule(name=names, enabled=st.booleans())
    def switch(self, name: str, enabled: bool) -> None:  # noqa: FBT001 - as above
        model = self.models[name]
        assert self.desk.run(self.schedule.change(name, self.now, enabled=enabled)) is (enabled != model.enabled)
        if enabled and not model.enabled:
            model.due = self.now
        model.enabled = enabled

    @invariant()
    def the_tables_are_as_the_model(self) -> None:
        if not self.models["a"].tokens and not self.models["b"].tokens:
            return
        for name, model in self.models.items():
            row = self.desk.run(self.schedule.row(name))
            assert (row["due_at"], row["enabled"], row["holder"] is not None) == (
                model.due,
                model.enabled,
                model.token is not None,
            )
            outcomes = [run["outcome"] for run in self.desk.run(self.schedule.runs(name))]
            assert (outcomes.count("lost"), len(outcomes)) == (model.lost, model.lost + model.accepted)
            assert row["epoch"] == len(model.tokens) == len(set(model.tokens))


@pytest.mark.hypothesis
def test_any_history_of_a_schedule(owner_url: str, database_url: str) -> None:
    """One live token per task, one accepted end per token, missed runs once, whatever comes in whatever order."""
    loop = asyncio.new_event_loop()
    desk = Desk(
        loop,
        loop.run_until_complete(asyncpg.connect(database_url)),
        loop.run_until_complete(asyncpg.connect(owner_url)),
    )
    try:
        run_state_machine_as_test(
            partial(ScheduleMachine, desk),  # type: ignore[arg-type]
            settings=effort(30, steps=40, derandomize=True),
        )
    finally:
        loop.run_until_complete(desk.service.close())
        loop.run_until_complete(desk.owner.close())
        loop.close()
