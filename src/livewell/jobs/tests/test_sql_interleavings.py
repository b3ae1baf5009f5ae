"""Decisions about one job in several open transactions, in every order of their calls and commits.

A job runs under a lease that has run out, another of its serial key waits behind it. Then two or three of claim,
rescue, finish, cancel, heartbeat and enqueue are each begun, called and committed (or rolled back), interleaved in all
ways there are. Whatever the order: nobody fails, who must not wait does not, one decision about the attempt is
accepted, and no job is lost.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, permutations
from typing import Any, TypeAlias

import asyncpg
import pytest

from livewell.jobs.tests.sql_surface import LEASE, NOW, SECOND, Row, Surface, job
from livewell.kernel import Database
from livewell.testing import connected

T = NOW + LEASE + SECOND
Session: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The job whose lease ran out, as its worker holds it, and the one that waits behind it."""

    leased: Row
    behind: int


async def _claim(queue: Surface, scene: Scene) -> list[int]:
    return await queue.claim_ids("w2", now=T)


async def _rescue(queue: Surface, scene: Scene) -> list[int]:
    return [row["job_id"] for row in await queue.rescue(now=T)]


async def _complete(queue: Surface, scene: Scene) -> str:
    return await queue.finish(scene.leased, "completed", now=T)


async def _reset(queue: Surface, scene: Scene) -> str:
    return await queue.finish(scene.leased, "reset", now=T)


async def _cancel(queue: Surface, scene: Scene) -> str:
    return (await queue.cancel(scene.leased["job_id"], now=T))[scene.leased["job_id"]]


async def _heartbeat(queue: Surface, scene: Scene) -> str:
    (row,) = await queue.heartbeat(scene.leased, now=T)
    return str(row["status"])


async def _enqueue(queue: Surface, scene: Scene) -> str:
    (row,) = await queue.enqueue(job(dedupe_key="d", serial_key="s"), now=T)
    return str(row["outcome"])


CALLS: dict[str, Callable[[Surface, Scene], Awaitable[Any]]] = {
    "claim": _claim,
    "rescue": _rescue,
    "complete": _complete,
    "reset": _reset,
    "cancel": _cancel,
    "heartbeat": _heartbeat,
    "enqueue": _enqueue,
}
NEVER_WAIT = {"claim", "rescue", "heartbeat"}
MAIN = ("claim", "rescue", "complete", "cancel", "heartbeat")


def _orders(count: int) -> Iterator[tuple[int, ...]]:
    """Every way to interleave so many sessions of two steps each."""
    yield from sorted(set(permutations([n for n in range(count) for _ in range(2)])))


class Play:
    """Runs one interleaving: the first turn of a session calls, its second ends the transaction."""

    def __init__(
        self, sessions: Sequence[Session], watcher: Session, names: Sequence[str], endings: Sequence[str]
    ) -> None:
        self._sessions, self._watcher, self._names, self._endings = sessions, watcher, names, endings
        self._calls: dict[int, asyncio.Task[Any]] = {}
        self._to_end: list[int] = []

    async def run(self, order: Sequence[int], scene: Scene) -> dict[int, Any]:
        """Play the order; an end that its own call still waits for comes as soon as it can."""
        for turn in order:
            if turn in self._calls:
                self._to_end.append(turn)
            else:
                await self._sessions[turn].execute("begin")
                work = CALLS[self._names[turn]](Surface(self._sessions[turn]), scene)
                self._calls[turn] = asyncio.ensure_future(work)
            await self._settle()
        async with asyncio.timeout(10):
            while self._to_end:
                await self._calls[self._to_end[0]]
                await self._settle()
        return {turn: call.result() for turn, call in self._calls.items()}

    async def _settle(self) -> None:
        """Let every call come to its answer or to a wait, and end what can be ended, until nothing moves."""
        while True:
            for turn, call in self._calls.items():
                while not call.done() and not await self._waits(turn):
                    await asyncio.sleep(0)
            ready = [turn for turn in self._to_end if self._calls[turn].done()]
            if not ready:
                return
            for turn in ready:
                self._to_end.remove(turn)
                await self._sessions[turn].execute(self._endings[turn])

    async def _waits(self, turn: int) -> bool:
        pid = self._sessions[turn].get_server_pid()
        waits = bool(await self._watcher.fetchval("select cardinality(pg_blocking_pids($1)) > 0", pid))
        assert not (waits and self._names[turn] in NEVER_WAIT), f"{self._names[turn]} waits"
        return waits


@asynccontextmanager
async def _sessions(url: str, count: int) -> AsyncIterator[list[Session]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(connected(url)) for _ in range(count)]


async def _scene(queue: Surface, owner: Database) -> Scene:
    await owner.execute("delete from livewell_private.job; delete from livewell_private.job_attempt")
    await queue.enqueue(job(dedupe_key="d", serial_key="s", retries=3))
    leased = await queue.claim_one("w1")
    return Scene(leased=leased, behind=await queue.enqueue_one(serial_key="s"))


def _check_answers(scene: Scene, accepted: list[tuple[str, Any]]) -> None:
    """Of those that were committed, at most one decided the attempt, and nobody was told what is not so."""
    taken = [name for name, answer in accepted if name in {"complete", "reset"} and answer != "lost"]
    taken += [name for name, answer in accepted if name == "rescue" and scene.leased["job_id"] in answer]
    assert len(taken) <= 1
    if any(name in {"complete", "reset"} for name, _ in accepted):
        assert len(taken) == 1, "the attempt was decided by nobody"
    if ("heartbeat", "renewed") in accepted:
        assert "rescue" not in taken, "renewed and rescued"
    claimed = [job_id for name, answer in accepted if name == "claim" for job_id in answer]
    assert len(claimed) == len(set(claimed))
    if "complete" in taken:
        assert scene.leased["job_id"] not in claimed


async def _check_rest(queue: Surface, scene: Scene, accepted: list[tuple[str, Any]]) -> None:
    """The job is where the answers say, in one place, and everything still comes to an end."""
    rows = await queue.caller.fetch("select id, state, attempt, cancel_reason from livewell.jobs order by id")
    assert len(rows) == len({row["id"] for row in rows}) == 2 + accepted.count(("enqueue", "created"))
    if ("complete", "completed") in accepted:
        assert rows[0]["state"] == "completed"
    if ("cancel", "cancelled") in accepted:
        assert rows[0]["state"] == "cancelled"
    if ("cancel", "told") in accepted:
        assert rows[0]["cancel_reason"], "said to be told, and was not"
    now, rounds = T, 0
    while any(row["state"] in {"pending", "processing"} for row in rows):
        now, rounds = now + LEASE + SECOND, rounds + 1
        assert rounds < 8, "a job was lost"
        await queue.rescue(now=now)
        leased = await queue.claim("w3", now=now) or (await queue.heal() and await queue.claim("w3", now=now)) or []
        await queue.finish_all([(row["job_id"], row["lease_token"], "completed", None) for row in leased], now=now)
        rows = await queue.caller.fetch("select id, state, attempt from livewell.jobs order by id")
    attempts = await queue.caller.fetch("select job_id, attempt from livewell.job_attempts order by 1, 2")
    numbered = [(row["id"], number) for row in rows for number in range(1, row["attempt"] + 1)]
    assert [(row["job_id"], row["attempt"]) for row in attempts] == numbered


async def _play_all(queue: Surface, owner: Database, url: str, names: Sequence[str], endings: Sequence[str]) -> None:
    await queue.set("worker.reclaim_jitter_max", "0 seconds")
    async with _sessions(url, len(names)) as sessions, _sessions(url, 1) as (watcher,):
        for order in _orders(len(names)):
            scene = await _scene(queue, owner)
            answers = await Play(sessions, watcher, names, endings).run(order, scene)
            accepted = [(names[n], answers[n]) for n in sorted(answers) if endings[n] == "commit"]
            _check_answers(scene, accepted)
            await _check_rest(queue, scene, accepted)


@pytest.mark.parametrize("endings", [("commit", "commit"), ("rollback", "commit")], ids=["commits", "first rolls back"])
@pytest.mark.parametrize("names", list(combinations_with_replacement(CALLS, 2)), ids="-".join)
async def test_two_at_a_time(
    queue: Surface, owner: Database, database_url: str, names: tuple[str, str], endings: tuple[str, str]
) -> None:
    """Any two decisions about a job, in every order, also when the first is taken back."""
    await _play_all(queue, owner, database_url, names, endings)


@pytest.mark.parametrize("names", list(combinations(MAIN, 3)), ids="-".join)
async def test_three_at_a_time(queue: Surface, owner: Database, database_url: str, names: tuple[str, str, str]) -> None:
    """Any three of claim, rescue, finish, cancel and heartbeat, in all ninety orders."""
    await _play_all(queue, owner, database_url, names, ("commit",) * 3)
