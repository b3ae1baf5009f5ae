"""Many who want permits: in order, in blocks, with nothing lost, whatever happens to them."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial

import pytest

from livewell.budgets import PermitLost, PermitNotGranted, PermitOptions, PermitPool
from livewell.budgets.tests.permit_stage import ENDPOINT, declare, shorten_lease, spent
from livewell.kernel import Database, DatabaseOptions
from livewell.testing import TcpProxy, captured_logs, child, until

SECOND = timedelta(seconds=1)

HOLDER = """
from livewell.budgets import PermitPool
from livewell.kernel import Database, DatabaseOptions

async def main():
    async with await Database.open(DatabaseOptions(url=sys.argv[1])) as database, PermitPool(database) as pool:
        async with pool.permit("stage/call") as permit:
            permit.send()
            answer("sent")
            await told()

asyncio.run(main())
"""


async def test_permits_are_asked_for_in_blocks(database: Database, owner: Database) -> None:
    """A hundred who wait together cost two questions, one for each block of fifty."""
    await declare(owner)
    all_sent, go = asyncio.Barrier(101), asyncio.Event()
    async with PermitPool(database, options=PermitOptions(block=50)) as pool:

        async def work() -> None:
            async with pool.permit(ENDPOINT) as permit:
                permit.send()
                await all_sent.wait()
                await go.wait()

        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            for _ in range(100):
                tasks.create_task(work())
            await all_sent.wait()
            leased = await spent(owner)
            go.set()
    assert leased.open == 100
    assert leased.blocks == 2
    assert (await spent(owner)).open == 0


async def test_permits_come_in_the_order_of_asking(database: Database, owner: Database) -> None:
    """Whoever waits longest is next, and what comes back is used at once, not at the next poll."""
    await declare(owner, concurrent=2)
    served: list[int] = []
    began = time.monotonic()
    async with PermitPool(database) as pool:

        async def work(number: int) -> None:
            async with pool.permit(ENDPOINT) as permit:
                served.append(number)
                permit.send()
                await asyncio.sleep(0)

        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            for number in range(60):
                tasks.create_task(work(number))
    assert served == list(range(60))
    assert time.monotonic() - began < 15, "thirty turns would take thirty seconds if each waited for a poll"


async def test_what_comes_back_is_used_at_once(database: Database, owner: Database) -> None:
    """Who waits for a place is woken by the one that ends in this process, long before it would ask by itself."""
    await declare(owner, concurrent=1)
    async with PermitPool(database) as pool:
        async with pool.permit(ENDPOINT):
            waiting = asyncio.create_task(_take_and_leave(pool))
            await until(lambda: _is_held_back(pool), "somebody was turned away")
        ended = time.monotonic()
        async with asyncio.timeout(10):
            await waiting
        assert time.monotonic() - ended < 0.8


async def test_nobody_starves_behind_others_that_need_less(database: Database, owner: Database) -> None:
    """One who needs many tokens is served in turn, though those behind it would fit sooner."""
    await declare(owner, concurrent=1, tokens_per_minute=1_000_000)
    served: list[int] = []
    async with PermitPool(database) as pool:

        async def work(tokens: int) -> None:
            async with pool.permit(ENDPOINT, tokens=tokens):
                served.append(tokens)

        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            for tokens in (1, 1, 5000, 1, 1, 1):
                tasks.create_task(work(tokens))
    assert served.index(5000) == 2


async def test_a_thousand_share_ten_places(database: Database, owner: Database) -> None:
    """A thousand at once over one endpoint: by their own record never more than ten under way, and all are served."""
    await declare(owner, concurrent=10)
    under_way = most = served = 0
    async with PermitPool(database) as pool:

        async def work() -> None:
            nonlocal under_way, most, served
            async with pool.permit(ENDPOINT) as permit:
                permit.send()
                under_way += 1
                most = max(most, under_way)
                await asyncio.sleep(0)
                under_way -= 1
                served += 1

        async with asyncio.timeout(90), asyncio.TaskGroup() as tasks:
            for _ in range(1000):
                tasks.create_task(work())
    assert (served, most) == (1000, 10)
    after = await spent(owner)
    assert (after.open, after.sent) == (0, 1000)


async def test_a_permit_that_arrives_for_nobody_goes_back(database: Database, owner: Database) -> None:
    """Cancelled while the database is being asked: what it grants reaches nobody, and comes back."""
    await declare(owner, concurrent=1)
    async with PermitPool(database) as pool:
        waiting = asyncio.create_task(_take_and_leave(pool))
        await _steps(3)
        waiting.cancel()
        await until(lambda: _was_granted_and_is_back(owner), "the permit was granted and came back")


async def test_a_permit_in_the_hand_of_the_cancelled_goes_back(database: Database, owner: Database) -> None:
    """Cancelled between being handed the permit and taking it: it comes back."""
    await declare(owner, concurrent=1)
    async with PermitPool(database) as pool:
        waiting = asyncio.create_task(_take_and_leave(pool))
        await _steps(1)
        assert pool.waiting(ENDPOINT) == 1
        async with asyncio.timeout(10):
            while pool.waiting(ENDPOINT):
                await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await until(lambda: _was_granted_and_is_back(owner), "the permit came back")


@pytest.mark.parametrize("seed", range(8))
async def test_whoever_is_cancelled_takes_no_permit_along(database: Database, owner: Database, seed: int) -> None:
    """Cancelled or timed out at any point of waiting, sending or settling: every permit comes back, nobody hangs."""
    dice = random.Random(seed)
    await declare(owner, concurrent=3)
    outcomes: Counter[str] = Counter()
    async with PermitPool(database, options=PermitOptions(settle_every=timedelta(milliseconds=5))) as pool:

        async def work() -> None:
            patience = dice.choice([None, None, timedelta(milliseconds=dice.uniform(0, 20))])
            try:
                async with pool.permit(ENDPOINT, timeout=patience) as permit:
                    await _steps(dice.randrange(3))
                    if dice.random() < 0.8:
                        permit.send()
                        await _steps(dice.randrange(3))
                        permit.settle(bytes=1)
                outcomes["done"] += 1
            except PermitNotGranted:
                outcomes["not granted"] += 1

        tasks = [asyncio.create_task(work()) for _ in range(60)]
        for task in dice.sample(tasks, 30):
            await _steps(dice.randrange(40))
            task.cancel()
        async with asyncio.timeout(30):
            results = await asyncio.gather(*tasks, return_exceptions=True)
        wrong = [result for result in results if result is not None and not isinstance(result, asyncio.CancelledError)]
        assert wrong == []
        assert pool.waiting(ENDPOINT) == 0
        await until(lambda: _is_back(owner), "every permit has come back", within=timedelta(seconds=10))
        async with asyncio.timeout(5), pool.permit(ENDPOINT):
            pass
    assert (await spent(owner)).open == 0


async def test_leases_are_renewed_while_a_call_lasts(database: Database, owner: Database) -> None:
    """A call longer than its lease keeps its place, and care that runs meanwhile takes nothing from it."""
    await declare(owner, concurrent=1)
    await shorten_lease(owner, "1 second")
    async with PermitPool(database) as pool, pool.permit(ENDPOINT) as permit:
        permit.send()
        first = await _lease_until(owner)
        await until(lambda: _is_later(owner, first + 2 * SECOND), "the lease was renewed")
        await owner.fetchval("select livewell.task_budget_care()")
        assert (await spent(owner)).open == 1


async def test_a_call_under_a_lost_lease_is_stopped(database_url: str, owner: Database, tcp_proxy: TcpProxy) -> None:
    """With the database out of reach for a lease, others may have the place: our own clock stops the call."""
    await declare(owner, concurrent=1)
    await shorten_lease(owner, "1 second")
    options = DatabaseOptions(url=tcp_proxy.through(database_url), connect_timeout=SECOND)
    async with await Database.open(options) as behind:
        pool = PermitPool(behind, options=PermitOptions(close_within=timedelta(milliseconds=100)))

        async def work() -> None:
            async with pool.permit(ENDPOINT) as permit:
                permit.send()
                tcp_proxy.black_hole()
                await asyncio.Event().wait()

        began = time.monotonic()
        with pytest.raises(PermitLost):
            async with asyncio.timeout(20):
                await work()
        assert time.monotonic() - began < 5
        tcp_proxy.heal()
        await pool.close()


async def test_a_lost_permit_does_not_hide_a_cancellation(database: Database, owner: Database) -> None:
    """Cancelled by its owner and stopped by its lease at once: the owner's cancellation is what counts."""
    await declare(owner)
    sent = asyncio.Event()
    async with PermitPool(database, options=PermitOptions(close_within=timedelta(milliseconds=100))) as pool:

        async def work() -> None:
            async with pool.permit(ENDPOINT) as permit:
                permit.send()
                sent.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await sent.wait()
        await owner.execute("delete from livewell_private.permit_block")
        await pool.renew()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_waiting_outlasts_a_database_that_went_away(
    database_url: str, owner: Database, tcp_proxy: TcpProxy
) -> None:
    """Connections that break are no answer: who waits goes on waiting, and is served when the database is back."""
    await declare(owner)
    async with await Database.open(DatabaseOptions(url=tcp_proxy.through(database_url))) as behind:
        sprung = tcp_proxy.cut_before("acquire_permits")
        async with PermitPool(behind) as pool, asyncio.timeout(20), pool.permit(ENDPOINT) as permit:
            assert sprung.is_set()
            permit.send()
    assert (await spent(owner)).sent == 1


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_settlement_that_was_cut_off_counts_once(
    database_url: str, owner: Database, tcp_proxy: TcpProxy, moment: str
) -> None:
    """Cut off before or after the database has settled: it is told again, and counts once."""
    await declare(owner)
    async with await Database.open(DatabaseOptions(url=tcp_proxy.through(database_url))) as behind:
        cut = tcp_proxy.cut_before if moment == "before" else tcp_proxy.cut_after
        sprung = cut("settle_permits")
        async with PermitPool(behind) as pool:
            async with pool.permit(ENDPOINT) as permit:
                permit.send()
                permit.settle(bytes=10)
            async with asyncio.timeout(20):
                await pool.flush()
        assert sprung.is_set()
    after = await spent(owner)
    assert (after.open, after.sent, after.bytes) == (0, 1, 10)


_FULL = """
create function public.no_room() returns trigger language plpgsql as $$
begin
    raise exception 'could not extend file' using errcode = 'disk_full';
end $$;
create trigger no_room before insert or update or delete on livewell_private.permit_block
for each statement execute function public.no_room()
"""


async def _room_after(owner: Database, refused: Callable[[], Awaitable[bool]]) -> None:
    await until(refused, "a call is refused")
    await owner.execute("drop trigger no_room on livewell_private.permit_block; drop function public.no_room()")


async def test_a_full_disk_is_outlasted(database: Database, owner: Database) -> None:
    """Who waits for a permit goes on waiting while the database has no room, and what was used is settled after it."""
    await declare(owner, concurrent=1)
    with captured_logs() as logs:

        async def told(event: str) -> bool:
            return any(line["event"] == event for line in logs)

        async with PermitPool(database) as pool, asyncio.timeout(20):
            await owner.execute(_FULL)
            making_room = asyncio.create_task(_room_after(owner, partial(told, "permits_not_asked")))
            async with pool.permit(ENDPOINT) as permit:
                await making_room
                permit.send()
                await owner.execute(_FULL)
                permit.settle(bytes=10)
            making_room = asyncio.create_task(_room_after(owner, partial(told, "permits_settled_late")))
            await pool.flush()
            await making_room
    after = await spent(owner)
    assert (after.open, after.sent, after.bytes) == (0, 1, 10)


async def test_throttling_is_told_before_the_place_comes_back(
    database_url: str, owner: Database, tcp_proxy: TcpProxy
) -> None:
    """Even when the first telling fails: whoever waits for the place must not call an endpoint that said 429."""
    await declare(owner, concurrent=1)
    async with (
        await Database.open(DatabaseOptions(url=tcp_proxy.through(database_url))) as behind,
        PermitPool(behind) as pool,
    ):
        async with pool.permit(ENDPOINT) as permit:
            waiting = asyncio.create_task(_take_and_leave(pool))
            await until(lambda: _is_held_back(pool), "somebody was turned away")
            sprung = tcp_proxy.cut_before("learn_limits")
            permit.send()
            permit.settle(status=429, headers={"Retry-After": "30"})
        await pool.flush()
        await until(lambda: _is_held_back(pool, "closed"), "it is known that the endpoint is closed")
        waiting.cancel()
    after = await spent(owner)
    assert sprung.is_set()
    assert (after.closed, after.requests) == (True, 1)


async def test_a_killed_holder_gives_its_place_back(database: Database, database_url: str, owner: Database) -> None:
    """After kill -9 its place is taken until its lease is over, then free; what it may have spent stays spent."""
    await declare(owner, concurrent=1)
    await shorten_lease(owner, "2 seconds")
    async with PermitPool(database) as pool, child(HOLDER, database_url) as holder:
        assert await holder.answer() == "sent"
        await holder.kill()
        left = await owner.fetchval(
            "select extract(epoch from max(lease_until) - clock_timestamp()) from livewell_private.permit_block"
        )
        killed_at = time.monotonic()
        async with asyncio.timeout(20), pool.permit(ENDPOINT):
            waited = time.monotonic() - killed_at
    assert waited >= float(left) - 0.1
    assert waited < float(left) + 3
    await owner.fetchval("select livewell.task_budget_care()")
    after = await spent(owner)
    assert (after.open, after.requests, after.sent) == (0, 2, 1)


async def _take_and_leave(pool: PermitPool) -> None:
    async with pool.permit(ENDPOINT):
        pass


async def _is_held_back(pool: PermitPool, reason: str = "concurrent") -> bool:
    return pool.waiting_for(ENDPOINT) == reason


async def _was_granted_and_is_back(owner: Database) -> bool:
    now = await spent(owner)
    return (now.requests, now.open) == (1, 0)


async def _steps(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def _is_back(owner: Database) -> bool:
    return (await spent(owner)).open == 0


async def _lease_until(owner: Database) -> datetime:
    lease_until: datetime = await owner.fetchval("select max(lease_until) from livewell_private.permit_block")
    return lease_until


async def _is_later(owner: Database, moment: datetime) -> bool:
    return bool(await owner.fetchval("select max(lease_until) > $1 from livewell_private.permit_block", moment))
