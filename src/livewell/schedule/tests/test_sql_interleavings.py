"""Take, renew, finish and disable of one task in open transactions, in every order of their calls and commits.

A node holds the task under a lease that has run out. Whatever the order: taking never waits, nobody fails, at most one
run is accepted as ended by the old token, and at most one new lease is given out.
"""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import combinations_with_replacement, permutations
from typing import Any
from uuid import UUID

import pytest

from livewell.kernel import Database
from livewell.schedule.tests.sql_surface import NOON, SECOND, Schedule
from livewell.testing import connected

LATER = NOON + 31 * SECOND
Session = "asyncpg.Connection[asyncpg.Record]"

CALLS: dict[str, Callable[[Schedule, UUID], Awaitable[Any]]] = {
    "take": lambda schedule, _: schedule.take("t", LATER, "n2"),
    "finish": lambda schedule, token: schedule.finish("t", token, LATER),
    "renew": lambda schedule, token: schedule.renew("t", token, LATER),
    "disable": lambda schedule, _: schedule.change("t", LATER, enabled=False),
}


async def _blocked(watcher: Any, session: Any) -> bool:
    return bool(await watcher.fetchval("select cardinality(pg_blocking_pids($1)) > 0", session.get_server_pid()))


async def _settled(
    watcher: Any, sessions: list[Any], calls: "dict[int, asyncio.Task[Any]]", names: tuple[str, ...]
) -> None:
    """Until every call has its answer or waits; taking must not."""
    for turn, call in calls.items():
        while not call.done():
            if await _blocked(watcher, sessions[turn]):
                assert names[turn] != "take", "taking waits"
                break
            await asyncio.sleep(0)


async def _play(
    sessions: list[Any], watcher: Any, names: tuple[str, ...], order: tuple[int, ...], token: UUID
) -> dict[int, Any]:
    calls: dict[int, asyncio.Task[Any]] = {}
    to_end: list[int] = []
    for turn in order:
        if turn in calls:
            to_end.append(turn)
        else:
            await sessions[turn].execute("begin")
            calls[turn] = asyncio.ensure_future(CALLS[names[turn]](Schedule(sessions[turn]), token))
        await _settled(watcher, sessions, calls, names)
        for ready in [turn for turn in to_end if calls[turn].done()]:
            to_end.remove(ready)
            await sessions[ready].execute("commit")
            await _settled(watcher, sessions, calls, names)
    async with asyncio.timeout(10):
        while to_end:
            for turn in [turn for turn in to_end if calls[turn].done()]:
                to_end.remove(turn)
                await sessions[turn].execute("commit")
            await asyncio.sleep(0)
    return {turn: call.result() for turn, call in calls.items()}


@pytest.mark.parametrize("count", [2, 3])
async def test_in_every_order(schedule: Schedule, owner: Database, database_url: str, count: int) -> None:
    """Any two or three of take, finish, renew and disable: one new lease at most, one accepted end at most."""
    pairs = list(combinations_with_replacement(CALLS, 2))
    sets: list[tuple[str, ...]] = [*pairs] if count == 2 else [("take", "finish", "renew"), ("take", "take", "finish")]
    async with (
        connected(database_url) as a,
        connected(database_url) as b,
        connected(database_url) as c,
        connected(database_url) as watcher,
    ):
        for names in sets:
            for order in sorted(set(permutations([n for n in range(count) for _ in range(2)]))):
                await owner.execute("delete from livewell_private.task; delete from livewell_private.task_run")
                await schedule.put("t", every="1 minute", lease="30 seconds")
                token = (await schedule.take("t", NOON))["token"]
                answers = await _play([a, b, c], watcher, names, order, token)
                await _check(schedule, [(names[n], answer) for n, answer in sorted(answers.items())], token)


async def _check(schedule: Schedule, answers: list[tuple[str, Any]], token: UUID) -> None:
    given = [answer["token"] for name, answer in answers if name == "take" and answer["reason"] is None]
    ended = [answer for name, answer in answers if name == "finish" and answer == "succeeded"]
    outcomes = [run["outcome"] for run in await schedule.runs("t")]
    assert len(given) <= 1
    assert len(ended) <= 1
    assert outcomes.count("succeeded") == len(ended)
    assert not (ended and "lost" in outcomes), "ended and lost"
    assert outcomes.count("lost") == (1 if given and not ended else 0)
    if given:
        assert await schedule.renew("t", token, LATER) == "lost"
        assert await schedule.finish("t", given[0], LATER) == "succeeded"
