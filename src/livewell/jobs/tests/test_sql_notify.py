"""Wake-ups: a worker is notified when it said that it idles, and then only of its own groups."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from livewell.jobs.tests.sql_surface import NOW, SECOND, Surface, job, jobs
from livewell.kernel import Database
from livewell.testing import connected, until


class Ear:
    """What was heard on a channel since it was last asked."""

    def __init__(self, owner: Database, channel: str, heard: list[str]) -> None:
        self._owner, self._channel, self._heard = owner, channel, heard

    async def heard(self) -> list[str]:
        """Everything sent so far: notifications arrive in order of commit, so all came before a last one of our own."""
        await self._owner.fetchval("select pg_notify($1, 'last')", self._channel)

        async def came() -> bool:
            return "last" in self._heard

        await until(came, "the last notification arrives")
        heard, self._heard[:] = [word for word in self._heard if word != "last"], []
        return heard


@asynccontextmanager
async def _listening(owner: Database, url: str, channel: str = "livewell_jobs") -> AsyncIterator[Ear]:
    heard: list[str] = []
    async with connected(url) as connection:
        await connection.add_listener(channel, lambda *told: heard.append(str(told[-1])))
        yield Ear(owner, channel, heard)


async def test_only_an_idle_worker_of_the_group_is_notified(queue: Surface, owner: Database, database_url: str) -> None:
    """An enqueue notifies the group once per batch when a worker of it idles, and not otherwise."""
    await queue.declare("letter", queue_group="post")
    async with _listening(owner, database_url) as ear:
        await queue.enqueue(job())
        await queue.register("w1", groups=["general"], kinds=["plain", "letter"])
        await queue.enqueue(job())
        assert await ear.heard() == []
        await queue.idle("w1")
        await queue.enqueue(job("letter"))
        assert await ear.heard() == []
        await queue.enqueue(*jobs(20))
        assert await ear.heard() == ["general"]


async def test_a_worker_that_got_all_it_asked_for_is_not_notified(
    queue: Surface, owner: Database, database_url: str
) -> None:
    """A claim that gives all that was asked for ends the worker's idleness, for it will ask again; no other does."""
    await queue.register("w1")
    await queue.idle("w1")
    async with _listening(owner, database_url) as ear:
        assert await queue.claim("w1") == []
        await queue.enqueue(job())
        assert await ear.heard() == ["general"]
        assert len(await queue.claim("w1", max_jobs=2)) == 1
        await queue.enqueue(job())
        assert await ear.heard() == ["general"]
        assert len(await queue.claim("w1", max_jobs=1)) == 1
        await queue.enqueue(job())
        assert await ear.heard() == []


@pytest.mark.parametrize("outcome", ["completed", "dead", "failed"])
async def test_room_under_a_cap_is_told(queue: Surface, owner: Database, database_url: str, outcome: str) -> None:
    """When an attempt of a capped kind ends, whatever its outcome, idle workers are told that there is room again."""
    await owner.execute("update livewell_private.job_kind set concurrency = 1 where kind = 'plain'")
    await queue.register("w1")
    await queue.enqueue(*jobs(2))
    leased = await queue.claim_one("w1")
    await queue.idle("w1")
    async with _listening(owner, database_url) as ear:
        await queue.finish(leased, outcome)
        assert await ear.heard() == ["general"]
        assert len(await queue.claim("w1")) == 1


async def test_a_worker_long_unseen_is_not_notified(queue: Surface, owner: Database, database_url: str) -> None:
    """Five minutes after its last sign of life an idle mark counts no more."""
    await queue.register("w1")
    await queue.idle("w1")
    async with _listening(owner, database_url) as ear:
        await queue.enqueue(job(), now=NOW + 301 * SECOND)
        assert await ear.heard() == []


async def test_nobody_is_notified_of_what_was_rolled_back(
    queue: Surface, database: Database, owner: Database, database_url: str
) -> None:
    """The notification belongs to the caller's transaction as the job does."""
    await queue.register("w1")
    await queue.idle("w1")
    async with _listening(owner, database_url) as ear, database.connection() as connection:
        await connection.execute("begin")
        await Surface(connection).enqueue(job())
        await connection.execute("rollback")
        assert await ear.heard() == []


async def test_whatever_makes_a_job_ready_wakes_the_idle(queue: Surface, owner: Database, database_url: str) -> None:
    """Resume, retry, reset and a freed serial key are as good as an enqueue; a backoff makes nothing ready."""
    dead = await queue.dead()
    await queue.enqueue(job(serial_key="s"), job(serial_key="s"), job())
    leased = await queue.claim("w2")
    assert len(leased) == 2
    await queue.register("w1")
    await queue.idle("w1")
    async with _listening(owner, database_url) as ear:
        await queue.finish(leased[1], "failed")
        assert await ear.heard() == []
        await queue.finish(leased[0])
        assert await ear.heard() == ["general"]
        await queue.retry(dead)
        assert await ear.heard() == ["general"]
        await queue.pause("plain")
        assert await ear.heard() == []
        await queue.resume("plain")
        assert await ear.heard() == ["general"]
        retried = await queue.claim("w2", max_jobs=1)
        await queue.finish(retried[0], "reset")
        assert await ear.heard() == ["general"]


async def test_a_running_jobs_worker_is_told_of_its_cancel(queue: Surface, owner: Database, database_url: str) -> None:
    """Cancelling notifies each worker that runs one of the jobs, once, and nobody for pending ones."""
    await queue.enqueue(*jobs(4))
    ids = await queue.claim_ids("w1", max_jobs=2) + await queue.claim_ids("w2", max_jobs=1)
    pending = await queue.enqueue_one()
    async with _listening(owner, database_url, "livewell_cancel") as ear:
        await queue.cancel(pending)
        assert await ear.heard() == []
        await queue.cancel(*ids, pending)
        assert sorted(await ear.heard()) == ["w1", "w2"]
