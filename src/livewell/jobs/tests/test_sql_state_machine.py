"""Random histories of the whole queue against a simple model, the clock in our hands.

Run longer with `pytest src/livewell/jobs/tests/test_sql_state_machine.py --hypothesis-profile long`.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import asyncpg
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from livewell.jobs.tests.queue_model import BACKOFF_FIRST, BACKOFF_MAX, CAP, OUTCOMES, Model
from livewell.jobs.tests.sql_surface import LEASE, MINUTE, SECOND, Surface, job
from livewell.testing import effort

T = TypeVar("T")

KINDS = ["plain", "other", "capped"]
MOST_LIVE = 8
_STATE = """
select id, state, kind, priority, due_at, attempt, failures, retries, dedupe_key, serial_key, lease_token, lease_until,
    cancel_reason
from livewell_private.job
"""
_NEVER = """
select id from livewell_private.job_live
where finished_at is not null or jsonb_typeof(payload) <> 'object'
    or (waiting_for is not null and (state <> 'pending' or waiting_for not in ('due', 'serial')))
    or (state = 'processing') <> (lease_token is not null and lease_until is not null and worker is not null)
"""
_CLEAN = """
delete from livewell_private.job; delete from livewell_private.job_attempt;
update livewell_private.job_kind set paused_until = null, paused_reason = null where paused_until is not null
"""
_HISTORY = "select job_id, array_agg(outcome order by attempt) as outcomes from livewell.job_attempts group by job_id"


@dataclass(frozen=True)
class Desk:
    """Two connections and the loop they live in: the service's to call the queue, the owner's to look behind it."""

    loop: asyncio.AbstractEventLoop
    service: "asyncpg.Connection[asyncpg.Record]"
    owner: "asyncpg.Connection[asyncpg.Record]"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)


picks = st.integers(min_value=0, max_value=1000)
seconds = st.sampled_from([0, 1, 5, 30, 61, 301])
requests = st.fixed_dictionaries(
    {"kind": st.sampled_from(KINDS), "priority": st.integers(1, 3), "retries": st.integers(0, 2)},
    optional={
        "dedupe_key": st.sampled_from(["d1", "d2", "d3"]),
        "serial_key": st.sampled_from(["s1", "s1", "s2"]),
        "later": st.sampled_from([5, 60, 400]),
    },
)
ends = st.lists(st.tuples(picks, st.sampled_from(OUTCOMES), st.sampled_from([1, 20, 200])), min_size=1, max_size=4)


class QueueMachine(RuleBasedStateMachine):
    """Each rule makes one call, compares its answer with the model's, and afterwards the tables with the model."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.queue = Surface(desk.service)
        self.model = Model()
        self.leases: list[tuple[int, UUID]] = []

    @initialize()
    def begin(self) -> None:
        """An empty queue and known dice: the same history goes the same way again."""
        self.desk.run(self.desk.owner.execute(_CLEAN))
        self.desk.run(self.desk.service.execute("select setseed(0.5)"))

    @rule(
        batch=st.lists(requests, min_size=1, max_size=4), choice=st.sampled_from(["keep", "replace", "raise_priority"])
    )
    def enqueue(self, batch: list[dict[str, Any]], choice: str) -> None:
        self._enqueue(batch, choice)

    def _enqueue(self, batch: list[dict[str, Any]], choice: str) -> None:
        sent, keys = [], set[str]()
        for request in batch:
            fields = {name: value for name, value in request.items() if name != "later"}
            if "later" in request:
                fields["scheduled_at"] = self.model.now + request["later"] * SECOND
            if fields["kind"] == "capped":
                fields.pop("serial_key", None)
            if fields.get("dedupe_key") not in keys:
                sent.append(job(**fields))
            keys.add(fields.get("dedupe_key", object()))
        rows = self.desk.run(self.queue.enqueue(*sent, on_duplicate=choice, now=self.model.now))
        for request, row in zip(sent, rows, strict=True):
            expected = self.model.enqueue(request, choice, row["job_id"])
            assert (row["job_id"], row["outcome"]) == expected

    @rule(most=st.integers(1, 5), kinds=st.sampled_from([None, None, ["plain"], ["capped", "other"]]))
    def claim(self, most: int, kinds: list[str] | None) -> None:
        may = self.model.claimable(kinds)
        rows = self.desk.run(self.queue.claim(max_jobs=most, kinds=kinds, now=self.model.now))
        ids = [row["job_id"] for row in rows]
        assert ids == [job.id for job in may[: len(ids)]]
        assert bool(ids) == bool(may)
        if not any(job.serial_key for job in self.model.jobs.values()):
            assert len(ids) == min(most, len(may))
        for row in rows:
            self.model.claim(self.model.jobs[row["job_id"]], row["lease_token"])
            self.leases.append((row["job_id"], row["lease_token"]))

    @precondition(lambda self: self.leases)
    @rule(chosen=st.lists(picks, min_size=1, max_size=4))
    def heartbeat(self, chosen: list[int]) -> None:
        leased = dict(self._lease(pick) for pick in chosen)
        rows = self.desk.run(
            self.desk.service.fetch(
                "select * from livewell.heartbeat_jobs('w1', $1, $2, $3)", [*leased], [*leased.values()], self.model.now
            )
        )
        answers = {row["job_id"]: (row["status"], row["cancel_reason"]) for row in rows}
        assert answers == {job_id: self.model.heartbeat(job_id, token) for job_id, token in leased.items()}

    @precondition(lambda self: self.leases)
    @rule(chosen=ends)
    def finish(self, chosen: list[tuple[int, str, int]]) -> None:
        batch: dict[int, tuple[UUID, str, int]] = {}
        for pick, outcome, delay in chosen:
            job_id, token = self._lease(pick)
            batch.setdefault(job_id, (token, outcome, delay))
        ends = [
            (job_id, token, outcome, {"delay_seconds": delay} if outcome == "rescheduled" else {})
            for job_id, (token, outcome, delay) in batch.items()
        ]
        answers = self.desk.run(self.queue.finish_all(ends, now=self.model.now))
        assert answers == [(job_id, self.model.finish(job_id, *end)) for job_id, end in batch.items()]

    @rule(passed=seconds)
    def advance(self, passed: int) -> None:
        self.model.now += passed * SECOND

    @rule(wait=st.sampled_from([timedelta(0), LEASE - SECOND, LEASE, LEASE + SECOND]))
    def rescue(self, wait: timedelta) -> None:
        self.model.now += wait
        rows = self.desk.run(self.queue.rescue(now=self.model.now))
        assert {row["job_id"]: row["state"] for row in rows} == self.model.rescue()

    @rule()
    def heal(self) -> None:
        assert self.desk.run(self.queue.heal()) == 0, "nothing is lost where nobody races"

    @precondition(lambda self: self.model.jobs)
    @rule(pick=picks)
    def cancel(self, pick: int) -> None:
        job_id = self._job(pick)
        answer = self.desk.run(self.queue.cancel(job_id, reason="why", now=self.model.now))
        assert answer == {job_id: self.model.cancel(job_id, "why")}

    @precondition(lambda self: any(job.state == "failed" for job in self.model.jobs.values()))
    @rule(pick=picks)
    def retry(self, pick: int) -> None:
        dead = sorted(job.id for job in self.model.jobs.values() if job.state == "failed")
        job_id = dead[pick % len(dead)]
        answer = self.desk.run(self.queue.retry(job_id, now=self.model.now))
        assert answer == {job_id: self.model.retry(job_id)}

    @rule(kind=st.sampled_from(KINDS), minutes=st.sampled_from([1, 10]))
    def pause(self, kind: str, minutes: int) -> None:
        self.model.paused[kind] = self.model.now + minutes * MINUTE
        self.desk.run(self.queue.pause(kind, until=self.model.paused[kind], now=self.model.now))

    @precondition(lambda self: self.model.paused)
    @rule(pick=picks)
    def resume(self, pick: int) -> None:
        kind = sorted(self.model.paused)[pick % len(self.model.paused)]
        was_paused = self.model.paused.pop(kind) > self.model.now
        assert self.desk.run(self.queue.resume(kind, now=self.model.now)) == was_paused

    @invariant()
    def the_tables_are_as_the_model(self) -> None:
        rows = self.desk.run(self.desk.owner.fetch(_STATE))
        assert len(rows) == len(self.model.jobs)
        live = Counter(row["dedupe_key"] for row in rows if row["state"] in {"pending", "processing"})
        running = Counter(row["serial_key"] for row in rows if row["state"] == "processing")
        assert {count for keys in (live, running) for key, count in keys.items() if key} <= {1}
        for row in rows:
            known = self.model.jobs[row["id"]]
            if known.due_until is not None:
                assert known.due <= row["due_at"] <= known.due_until
                known.due, known.due_until = row["due_at"], None
            assert tuple(row) == (
                *(known.id, known.state, known.kind, known.priority, known.due, known.attempt, known.failures),
                *(known.retries, known.dedupe_key, known.serial_key, known.token, known.lease_until),
                known.cancel_reason,
            )

    @invariant()
    def live_rows_make_sense(self) -> None:
        assert self.desk.run(self.desk.owner.fetch(_NEVER)) == [], (
            "a live job is not finished, waits or is leased rightly"
        )

    def teardown(self) -> None:
        """Every attempt that ended is on record once, in order, under the word the model has for it."""
        rows = self.desk.run(self.desk.owner.fetch(_HISTORY))
        found = {row["job_id"]: row["outcomes"] for row in rows}
        assert found == {job.id: job.history for job in self.model.jobs.values() if job.history}

    def _lease(self, pick: int) -> tuple[int, UUID]:
        """Some lease, held or lost, mostly of a job that runs: there a wrong one would do harm."""
        tempting = [lease for lease in self.leases if self.model.jobs[lease[0]].state == "processing"]
        leases = self.leases if pick % 5 == 0 or not tempting else tempting
        return leases[-1 - pick % len(leases)]

    def _job(self, pick: int) -> int:
        """Some job, mostly a live one."""
        live = [job.id for job in self.model.jobs.values() if job.live]
        ids = sorted(self.model.jobs if pick % 5 == 0 or not live else live)
        return ids[-1 - pick % len(ids)]


@pytest.mark.hypothesis
@pytest.mark.timeout(900)  # a failing history is shrunk for some minutes
def test_every_history_goes_as_the_model_says(database_url: str, owner_url: str) -> None:
    """Whatever is called in whatever order, answers and tables are those of the model, and no rule is broken."""
    loop = asyncio.new_event_loop()
    try:
        service, owner = (loop.run_until_complete(asyncpg.connect(url)) for url in (database_url, owner_url))
        desk = Desk(loop, service, owner)
        for kind in KINDS:
            cap = CAP if kind == "capped" else None
            pace = {"backoff_first": str(BACKOFF_FIRST), "backoff_max": str(BACKOFF_MAX)}
            desk.run(Surface(service).declare(kind, concurrency=cap, **pace))
        run_state_machine_as_test(partial(QueueMachine, desk), settings=effort(250, steps=50))  # type: ignore[arg-type]
        desk.run(service.close())
        desk.run(owner.close())
    finally:
        loop.close()
