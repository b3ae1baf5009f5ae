"""What a permit allows, what it costs, and what comes back."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial

import asyncpg
import pytest
import pytest_asyncio

from livewell.budgets import (
    InvalidPermit,
    KeyRing,
    KeySources,
    KeyUnreadable,
    Permit,
    PermitExpired,
    PermitNotGranted,
    PermitOptions,
    PermitPool,
    Secret,
    UnknownEndpoint,
)
from livewell.budgets.tests.permit_stage import ENDPOINT, declare, spent
from livewell.kernel import Database, DatabaseOptions
from livewell.testing import make_key, until

SECOND = timedelta(seconds=1)


class Watch:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest_asyncio.fixture
async def pool(database: Database, watch: Watch) -> AsyncIterator[PermitPool]:
    """A pool whose clock stands still unless it is moved."""
    async with PermitPool(
        database,
        keys=KeyRing({"K1": "first-key"}, sources=KeySources(variables=("K1",))),
        options=PermitOptions(clock=watch),
    ) as opened:
        yield opened


async def test_a_settled_call_costs_what_was_told(pool: PermitPool, owner: Database) -> None:
    """The reservation holds while the call is under way; afterwards the actual figures stand in its place."""
    await declare(owner, tokens_per_minute=10_000)
    async with pool.permit(ENDPOINT, tokens=800, bytes=5000) as permit:
        permit.send()
        leased = await spent(owner)
        assert (leased.open, leased.requests, leased.tokens, leased.sent) == (1, 1, 800, 0)
        permit.settle(tokens=123, bytes=77)
    await pool.flush()
    after = await spent(owner)
    assert (after.open, after.blocks, after.requests, after.tokens, after.sent, after.bytes) == (0, 0, 1, 123, 1, 77)


async def test_a_call_that_was_not_settled_costs_what_was_reserved(pool: PermitPool, owner: Database) -> None:
    """What nobody told is unknown, and unknown is not free."""
    await declare(owner, tokens_per_minute=10_000)
    async with pool.permit(ENDPOINT, tokens=800, bytes=5000) as permit:
        permit.send()
    await pool.flush()
    after = await spent(owner)
    assert (after.open, after.tokens, after.bytes, after.sent, after.failures) == (0, 800, 5000, 1, 0)


async def test_a_call_that_was_never_sent_costs_no_bytes(pool: PermitPool, owner: Database) -> None:
    """Concurrency and bytes come back; the rate stays spent, since nobody can prove that nothing went out."""
    await declare(owner, tokens_per_minute=10_000)
    async with pool.permit(ENDPOINT, tokens=800, bytes=5000):
        pass
    await pool.flush()
    after = await spent(owner)
    assert (after.open, after.requests, after.bytes, after.sent, after.failures) == (0, 1, 0, 0, 0)


async def test_an_exception_after_sending_is_a_failure(pool: PermitPool, owner: Database) -> None:
    """The breaker counts a call whose block was left by an exception, and no call that was not made."""
    await declare(owner)

    async def broken(permit: Permit, *, sent: bool) -> None:
        if sent:
            permit.send()
        raise ZeroDivisionError

    for sent in (True, False):
        with pytest.raises(ZeroDivisionError):
            await pool.call(ENDPOINT, partial(broken, sent=sent))
    await pool.flush()
    after = await spent(owner)
    assert (after.failures, after.sent, after.bytes) == (1, 1, 1000)


async def test_a_cancelled_call_is_no_failure_of_its_provider(pool: PermitPool, owner: Database) -> None:
    """A worker that stops cancels its calls; that must not open breakers."""
    await declare(owner)
    sent = asyncio.Event()

    async def work() -> None:
        async with pool.permit(ENDPOINT) as permit:
            permit.send()
            sent.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await sent.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await pool.flush()
    after = await spent(owner)
    assert (after.open, after.failures, after.sent) == (0, 0, 1)


@pytest.mark.parametrize(("status", "failures"), [(200, 0), (404, 0), (429, 0), (408, 1), (500, 1), (503, 1)])
async def test_a_status_tells_a_failure(pool: PermitPool, owner: Database, status: int, failures: int) -> None:
    """A server's errors count for the breaker; being throttled and asking nonsense do not."""
    await declare(owner)
    async with pool.permit(ENDPOINT) as permit:
        permit.send()
        permit.settle(status=status)
    await pool.flush()
    assert (await spent(owner)).failures == failures


async def test_what_is_settled_twice_counts_once(pool: PermitPool, owner: Database) -> None:
    """The first settlement counts, in the block, after it, and against its end."""
    await declare(owner)
    async with pool.permit(ENDPOINT) as permit:
        permit.send()
        permit.settle(bytes=10)
        permit.settle(bytes=99, failed=True)
    permit.settle(bytes=99)
    await pool.flush()
    after = await spent(owner)
    assert (after.bytes, after.sent, after.failures) == (10, 1, 0)


async def test_a_permit_is_for_one_call_that_is_sent(pool: PermitPool, owner: Database) -> None:
    """Sending twice, settling what was not sent, and impossible costs are refused."""
    await declare(owner)
    async with pool.permit(ENDPOINT) as permit:
        with pytest.raises(InvalidPermit, match="never sent"):
            permit.settle(bytes=1)
        permit.send()
        with pytest.raises(InvalidPermit, match="used up"):
            permit.send()
        for tokens in (-1, 2**31):
            with pytest.raises(InvalidPermit, match="tokens"):
                permit.settle(tokens=tokens)
    with pytest.raises(InvalidPermit):
        permit.send()
    with pytest.raises(InvalidPermit):
        pool.permit(ENDPOINT, bytes=-1)


async def test_a_late_call_is_not_sent(pool: PermitPool, owner: Database, watch: Watch) -> None:
    """Past `send_within` of the moment it was asked for, the provider could see too many calls in one window."""
    await declare(owner)
    async with pool.permit(ENDPOINT) as permit:
        watch.now += 1.99
        permit.send()
    async with pool.permit(ENDPOINT) as permit:
        watch.now += 2.01
        with pytest.raises(PermitExpired):
            permit.send()
    await pool.flush()
    after = await spent(owner)
    assert (after.open, after.requests, after.sent, after.failures) == (0, 2, 1, 0)


async def test_a_late_call_is_made_under_another_permit(pool: PermitPool, owner: Database, watch: Watch) -> None:
    """`call()` takes a new permit when one was not sent in time, and answers with what the call answered."""
    await declare(owner)
    tries: list[Permit] = []

    async def make(permit: Permit) -> str:
        tries.append(permit)
        if len(tries) < 3:
            watch.now += 5
        permit.send()
        permit.settle(bytes=5)
        return "answered"

    assert await pool.call(ENDPOINT, make) == "answered"
    await pool.flush()
    after = await spent(owner)
    assert (len(tries), after.requests, after.sent, after.bytes) == (3, 3, 1, 5)


async def test_a_foreign_expiry_is_not_repeated(pool: PermitPool, owner: Database) -> None:
    """Only an expiry of its own permit makes `call()` try again; anything else is the caller's."""
    await declare(owner)

    async def make(_permit: Permit) -> None:
        raise PermitExpired("of another call")

    with pytest.raises(PermitExpired, match="another"):
        await pool.call(ENDPOINT, make)


async def test_who_does_not_wait_is_answered_at_once(pool: PermitPool, owner: Database) -> None:
    """`wait=False` gives None when nothing fits now, and does not overtake who waits."""
    await declare(owner, concurrent=1)
    async with pool.permit(ENDPOINT, wait=False) as first:
        assert first is not None
        async with pool.permit(ENDPOINT, wait=False) as second:
            assert second is None
        patient = asyncio.create_task(_one(pool))
        await until(lambda: _is_waiting(pool), "somebody waits")
        async with pool.permit(ENDPOINT, wait=False) as third:
            assert third is None
    await patient


async def test_who_waits_too_long_is_told_why(pool: PermitPool, owner: Database) -> None:
    """A timeout ends the wait with a fact that names what held it back, and nothing leaks."""
    await declare(owner, concurrent=1)
    async with pool.permit(ENDPOINT):
        with pytest.raises(PermitNotGranted, match="concurrent"):
            async with pool.permit(ENDPOINT, timeout=timedelta(milliseconds=50)):
                pass
    await pool.flush()
    assert (await spent(owner)).open == 0


async def test_an_endpoint_nobody_declared_is_a_fact(pool: PermitPool, owner: Database) -> None:
    """Whoever asked is told; others of the pool go on."""
    await declare(owner, tokens_per_minute=1000)
    with pytest.raises(UnknownEndpoint):
        async with pool.permit("stage/typo"):
            pass
    with pytest.raises(InvalidPermit, match="never fit"):
        async with pool.permit(ENDPOINT, tokens=1001):
            pass
    async with pool.permit(ENDPOINT, tokens=1000):
        pass


async def test_a_throttled_call_closes_the_endpoint(pool: PermitPool, owner: Database) -> None:
    """A 429 is learned before the permit comes back, so that whoever waits does not call a closed endpoint."""
    await declare(owner, concurrent=1)
    async with pool.permit(ENDPOINT) as permit:
        waiting = asyncio.create_task(_one(pool, timeout=SECOND / 2))
        await until(lambda: _is_waiting(pool), "somebody waits")
        permit.send()
        permit.settle(status=429, headers={"Retry-After": "30"})
    with pytest.raises(PermitNotGranted, match="closed"):
        await waiting
    after = await spent(owner)
    assert (after.closed, after.requests, after.open) == (True, 1, 0)


async def test_headers_teach_the_limit(pool: PermitPool, owner: Database) -> None:
    """A provider that allows less than was configured is believed at once."""
    await declare(owner, requests_per_minute=1000)
    async with pool.permit(ENDPOINT) as permit:
        permit.send()
        permit.settle(status=200, headers={"RateLimit-Policy": '"a";q=7;w=60'})
    await pool.flush()
    assert (
        await owner.fetchval("select learned_per_minute from livewell_private.limit_use where name = $1", ENDPOINT) == 7
    )


async def test_a_permit_bears_its_key(pool: PermitPool, owner: Database) -> None:
    """The key the limiter counted on is the one the call uses; a key of the caller's own stays the caller's."""
    await declare(owner)
    await make_key(owner, "stage", "k1")
    async with pool.permit(ENDPOINT) as permit:
        assert permit.api_key == Secret("first-key")
        assert "first-key" not in repr(permit)
    async with pool.permit(ENDPOINT, api_key=Secret("own")) as permit:
        assert permit.api_key == Secret("own")


async def test_permits_keep_to_a_named_key(pool: PermitPool, owner: Database) -> None:
    """Calls of one job ask for the job's key and get no other, whatever else there is."""
    await declare(owner)
    await make_key(owner, "stage", "k1")
    await make_key(owner, "stage", "k2")
    for _ in range(4):
        async with pool.permit(ENDPOINT, key="k1") as permit:
            assert permit.api_key == Secret("first-key")


async def test_a_key_that_cannot_be_read_is_a_fact(pool: PermitPool, owner: Database) -> None:
    """The call is not made without its key, the permit goes back, and the source is named."""
    await declare(owner)
    await make_key(owner, "stage", "no_such_key")
    with pytest.raises(KeyUnreadable, match="env:NO_SUCH_KEY"):
        async with pool.permit(ENDPOINT):
            pass
    await pool.flush()
    after = await spent(owner)
    assert (after.open, after.bytes) == (0, 0)


async def test_a_closing_pool_turns_away_and_takes_back(database: Database, owner: Database) -> None:
    """Who waits is told, what is lent comes back and is told of, and a closed pool says so."""
    await declare(owner, concurrent=1)
    pool = PermitPool(database)
    sent, go = asyncio.Event(), asyncio.Event()

    async def lend() -> None:
        async with pool.permit(ENDPOINT) as permit:
            permit.send()
            sent.set()
            await go.wait()
            permit.settle(bytes=42)

    lent = asyncio.create_task(lend())
    await sent.wait()
    waiting = asyncio.create_task(_one(pool))
    await until(lambda: _is_waiting(pool), "somebody waits")
    closing = asyncio.create_task(pool.close())
    with pytest.raises(PermitNotGranted, match="closing"):
        await waiting
    assert not closing.done()
    go.set()
    await asyncio.gather(lent, closing)
    after = await spent(owner)
    assert (after.open, after.bytes) == (0, 42)
    with pytest.raises(InvalidPermit, match="closed"):
        await _one(pool)


async def test_an_idle_pool_runs_nothing(pool: PermitPool, owner: Database) -> None:
    """With no permit out and nobody waiting there is no task, so nothing is asked of the database."""
    await declare(owner)
    before = asyncio.all_tasks()
    await _one(pool)
    await pool.flush()
    await until(lambda: _same_tasks(before), "the pool's tasks have ended")


class Counting(Database):
    """A database that knows when it was asked for a row."""

    asked: tuple[float, ...] = ()

    async def fetchrow(self, statement: str, *args: object) -> "asyncpg.Record | None":
        self.asked += (time.monotonic(),)
        return await super().fetchrow(statement, *args)


async def test_a_disabled_endpoint_is_asked_rarely(database_url: str, owner: Database) -> None:
    """Who waits for what is switched off does not hammer the database, and is served when it is switched on."""
    await declare(owner, state="disabled")
    async with await Counting.open(DatabaseOptions(url=database_url)) as counting, PermitPool(counting) as pool:
        waiting = asyncio.create_task(_one(pool))
        await until(lambda: _is_refused(pool), "it was refused")
        await owner.execute("update livewell_private.endpoint set state = 'active'")
        async with asyncio.timeout(10):
            await waiting
        asked = counting.asked
        assert len(asked) == 2
        assert asked[1] - asked[0] > 1


async def _is_refused(pool: PermitPool) -> bool:
    return pool.waiting_for(ENDPOINT) == "disabled"


async def _same_tasks(before: "set[asyncio.Task[object]]") -> bool:
    return {task for task in asyncio.all_tasks() if not task.done()} <= before


async def _is_waiting(pool: PermitPool) -> bool:
    return pool.waiting(ENDPOINT) > 0


async def _one(pool: PermitPool, *, timeout: timedelta | None = None) -> None:
    async with pool.permit(ENDPOINT, timeout=timeout) as permit:
        permit.send()
