"""The pool: how many connections there are, who gets which, and what is not lent again."""

import asyncio

import pytest

from livewell.kernel import Connection, DatabaseOptions, DatabaseUnavailable
from livewell.kernel.database import connect
from livewell.kernel.pool import UNUSED_SECONDS, Pool


class Made:
    """Makes real connections and counts them; fails when told to."""

    def __init__(self, url: str) -> None:
        self._options = DatabaseOptions(url=url)
        self.count = 0
        self.fails = False

    async def connection(self) -> Connection:
        if self.fails:
            raise ConnectionError("no more")
        self.count += 1
        return await connect(self._options)


async def test_a_connection_is_lent_again(database_url: str) -> None:
    """What was given back is lent to the next, the last used first; nothing new is made."""
    made = Made(database_url)
    pool = Pool(made.connection, 3)
    first, second = await pool.acquire(), await pool.acquire()
    pool.release(first)
    pool.release(second)
    assert await pool.acquire() is second
    assert await pool.acquire() is first
    assert (made.count, pool.size) == (2, 2)
    pool.terminate()


async def test_there_are_no_more_than_allowed(database_url: str) -> None:
    """Callers past the limit wait, and are served in the order in which they came."""
    made = Made(database_url)
    pool = Pool(made.connection, 1)
    held = await pool.acquire()
    served: list[int] = []

    async def call(number: int) -> None:
        connection = await pool.acquire()
        served.append(number)
        pool.release(connection)

    calls = [asyncio.create_task(call(number)) for number in range(3)]
    await asyncio.sleep(0)
    assert served == []
    pool.release(held)
    await asyncio.gather(*calls)
    assert (served, made.count) == ([0, 1, 2], 1)
    await pool.close()


async def test_nobody_who_comes_later_is_quicker(database_url: str) -> None:
    """What is given back goes to who waits, not to who asks in the same moment."""
    pool = Pool(Made(database_url).connection, 1)
    held = await pool.acquire()
    patient = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)
    pool.release(held)
    assert pool.take() is None
    assert await patient is held
    pool.release(held)
    await pool.close()


async def test_who_gives_up_hands_its_turn_on(database_url: str) -> None:
    """A caller cancelled while it waits, even just as its turn came, does not keep the others waiting."""
    pool = Pool(Made(database_url).connection, 1)
    held = await pool.acquire()
    early, unlucky, lucky = (asyncio.create_task(pool.acquire()) for _ in range(3))
    await asyncio.sleep(0)
    early.cancel()
    await asyncio.sleep(0)
    pool.release(held)
    unlucky.cancel()
    async with asyncio.timeout(5):
        assert await lucky is held
    pool.release(held)
    await pool.close()


async def test_what_broke_is_not_lent_again(database_url: str) -> None:
    """A closed connection is replaced, whether it broke while lent or while kept."""
    made = Made(database_url)
    pool = Pool(made.connection, 1)
    broken = await pool.acquire()
    broken.terminate()
    pool.release(broken)
    kept = await pool.acquire()
    pool.release(kept)
    kept.terminate()
    assert pool.take() is None
    assert await (await pool.acquire()).fetchval("select 1") == 1
    assert (made.count, pool.size) == (3, 1)
    pool.terminate()


async def test_an_open_transaction_is_not_lent_to_the_next(database_url: str) -> None:
    """What comes back inside a transaction is cut off, so that the next caller is not in it."""
    pool = Pool(Made(database_url).connection, 1)
    careless = await pool.acquire()
    await careless.execute("begin")
    pool.release(careless)
    assert careless.is_closed()
    assert not (await pool.acquire()).is_in_transaction()
    pool.terminate()


async def test_a_connection_that_cannot_be_made_costs_no_place(database_url: str) -> None:
    """A failure to connect is the caller's to hear, and another may try."""
    made = Made(database_url)
    pool = Pool(made.connection, 1)
    made.fails = True
    with pytest.raises(ConnectionError):
        await pool.acquire()
    made.fails = False
    pool.release(await pool.acquire())
    await pool.close()


async def test_what_is_long_unused_is_closed(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that were needed once, and not for a while, do not stay open."""
    pool = Pool(Made(database_url).connection, 2)
    first, second = await pool.acquire(), await pool.acquire()
    pool.release(first)
    loop = asyncio.get_running_loop()
    now = loop.time()
    monkeypatch.setattr(loop, "time", lambda: now + UNUSED_SECONDS + 1)
    pool.release(second)
    monkeypatch.undo()
    assert (first.is_closed(), second.is_closed(), pool.size) == (True, False, 1)
    await pool.close()


async def test_closing_waits_for_what_is_lent(database_url: str) -> None:
    """A call under way ends well while the pool closes; who waits in line, or comes later, is told of it."""
    pool = Pool(Made(database_url).connection, 1)
    held = await pool.acquire()
    closing = asyncio.create_task(pool.close())
    await asyncio.sleep(0)
    waiting = asyncio.create_task(pool.acquire())
    assert await held.fetchval("select 1") == 1
    pool.release(held)
    await closing
    assert (held.is_closed(), pool.size) == (True, 0)
    for call in (waiting, pool.acquire()):
        with pytest.raises(DatabaseUnavailable, match="closed"):
            await call


async def test_a_pool_can_be_cut_off(database_url: str) -> None:
    """Terminating ends every connection at once, lent or kept."""
    pool = Pool(Made(database_url).connection, 2)
    lent, kept = await pool.acquire(), await pool.acquire()
    pool.release(kept)
    pool.terminate()
    assert lent.is_closed()
    assert kept.is_closed()
