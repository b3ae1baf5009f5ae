"""Who watches items is a viewer, is told what changes, and is gone when the loop ends, however it ends."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from livewell.fetching import Items, StoredItem, read_notice
from livewell.fetching.item_feed import Watch
from livewell.fetching.tests.storing_surface import NOON, SECOND, Storing, failed
from livewell.freshness import InvalidKey
from livewell.kernel import Database, DatabaseOptions
from livewell.presence import TooMany
from livewell.registry import RegistryStore, UnknownType
from livewell.settings import SettingsStore
from livewell.testing import TcpProxy, Way, effort, make_type, until

Watched = AsyncGenerator[StoredItem, None]


OFTEN, NEVER = timedelta(seconds=0.1), timedelta(hours=1)


@pytest_asyncio.fixture
async def items(owner: Database, database: Database) -> AsyncIterator[Items]:
    await make_type(owner, "quote")
    async with _looking(database) as items:
        yield items


async def store(owner: Database, price: float, key: str = "AAPL") -> None:
    await Storing(owner).fetch("quote", {key: {"price": price}}, now=datetime.now(UTC))


async def price_of(watched: Watched) -> Any:
    """The next price that is told; that the reason why there is none has changed is news, too."""
    async with asyncio.timeout(20):
        while (item := await anext(watched)).value is None:
            pass
    return item.value["price"]


def nobody_looks(owner: Database) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        sessions = await owner.fetchval("select count(*) from livewell_private.session")
        viewers = await owner.fetchval("select coalesce(sum(viewers), 0) from livewell_private.item")
        return bool(sessions == viewers == 0)

    return look


async def test_current_values_come_first_and_then_changes(owner: Database, items: Items) -> None:
    """Each item is given as it is, also one that was never fetched, by a viewer; and then whenever it is stored."""
    await store(owner, 1)
    async with aclosing(items.watch("quote", ["AAPL", "MSFT"])) as watched:
        first = [await anext(watched), await anext(watched)]
        assert [(item.key, item.viewers, item.is_stale) for item in first] == [("AAPL", 1, False), ("MSFT", 1, True)]
        for price in (2, 3):
            await store(owner, price)
            assert await price_of(watched) == price
        await store(owner, 4, "MSFT")
        changed = await anext(watched)
        assert (changed.key, changed.value["price"], changed.why) == ("MSFT", 4, "fresh")
    assert await nobody_looks(owner)()


async def test_a_watch_is_renewed_as_often_as_the_setting_says(owner: Database, database: Database) -> None:
    """However seldom the items are looked at, the session is renewed every `live.renew_every`."""
    await make_type(owner, "quote")
    await SettingsStore(database).set_setting("live.renew_every", timedelta(seconds=1))
    async with _looking(database, NEVER) as items, aclosing(items.watch("quote", ["AAPL"])) as watched:
        await anext(watched)
        last_seen = "select max(last_seen) from livewell_private.gateway"
        seen = await owner.fetchval(last_seen)

        async def renewed() -> bool:
            return bool(await owner.fetchval(last_seen) > seen + timedelta(seconds=1.5))

        await until(renewed, "it is renewed twice")


async def test_changes_are_told_when_they_are_stored(owner: Database, database: Database) -> None:
    """A change is heard of at its commit, long before anybody would look by the clock."""
    await make_type(owner, "quote")
    async with _looking(database, NEVER) as items, aclosing(items.watch("quote", ["AAPL"])) as watched:
        await anext(watched)
        await until(lambda: _listens(owner), "the connection listens")
        await store(owner, 2)
        assert await price_of(watched) == 2


async def test_who_lags_behind_gets_the_newest(owner: Database, items: Items) -> None:
    """Of an item that changed many times meanwhile, only the newest is given."""
    async with aclosing(items.watch("quote", ["AAPL"])) as watched:
        await anext(watched)
        async with aclosing(items.watch("quote", ["AAPL"])) as quick:
            await anext(quick)
            for price in range(1, 6):
                await store(owner, price)
                assert await price_of(quick) == price
        assert await price_of(watched) == 5
        await store(owner, 6)
        assert await price_of(watched) == 6


async def test_what_stands_in_the_way_is_told(owner: Database, items: Items) -> None:
    """A refresh that failed is news with its reason; one that is under way is none."""
    async with aclosing(items.watch("quote", ["AAPL"])) as watched:
        assert (await anext(watched)).why == "never fetched: no worker runs refreshes of quote"
        await owner.execute("select livewell.register_worker('w', '{refresh}', '{refresh.quote}', 1)")
        now = datetime.now(UTC)
        storing = Storing(owner)
        await storing.end(failed(await storing.hold_one("quote", now=now)), now=now)
        assert (await anext(watched)).why == "never fetched: the fetch failed (nothing came)"


async def break_off(watched: Watched) -> None:
    async for _ in watched:
        break


async def raise_inside(watched: Watched) -> None:
    async def follow() -> None:
        async for _ in watched:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await follow()


async def close_it(watched: Watched) -> None:
    await anext(watched)
    await watched.aclose()


async def cancel_it(watched: Watched) -> None:
    begun = asyncio.Event()

    async def follow() -> None:
        async for _ in watched:
            begun.set()

    following = asyncio.create_task(follow())
    await begun.wait()
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following


async def time_out(watched: Watched) -> None:
    await anext(watched)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await anext(watched)


@pytest.mark.parametrize("end", [break_off, raise_inside, close_it, cancel_it, time_out])
async def test_whatever_ends_the_loop_ends_the_session(
    owner: Database, items: Items, end: Callable[[Watched], Awaitable[None]]
) -> None:
    """After a break, an exception, a cancellation, a timeout or aclose() nobody looks and nothing listens."""
    await end(items.watch("quote", ["AAPL"]))
    await until(nobody_looks(owner), "the session has ended")
    await until(lambda: _is_silent(owner), "the listening connection is closed")


async def _listens(owner: Database) -> bool:
    listening = "select count(*) from pg_stat_activity where query ilike 'listen%' and datname = current_database()"
    return bool(await owner.fetchval(listening) > 0)


async def _is_silent(owner: Database) -> bool:
    return not await _listens(owner)


async def test_the_end_of_the_application_ends_the_loop(owner: Database, items: Items) -> None:
    """Who still watches when it is closed comes to the end of the loop, and no session stays."""
    seen: list[StoredItem] = []

    async def follow() -> None:
        async for item in items.watch("quote", ["AAPL"]):
            seen.append(item)  # noqa: PERF401 - what was seen is looked at while the loop goes on

    async def began() -> bool:
        return bool(seen)

    following = asyncio.create_task(follow())
    await until(began, "the first value came")
    await items.close()
    async with asyncio.timeout(10):
        await following
    assert await nobody_looks(owner)()


async def test_leaving_and_closing_at_once_leaves_nobody(owner: Database, items: Items) -> None:
    """A loop that is left right before the application is closed has ended its session by then."""
    for _ in range(3):
        async for _ in items.watch("quote", ["AAPL"]):
            break
        await items.close()
        assert await nobody_looks(owner)()


async def test_all_who_watch_share_one_connection(owner: Database, items: Items) -> None:
    """However many watch, one connection listens; without a name each is a viewer of its own, with one all are one."""
    crowd = [items.watch("quote", ["AAPL"]) for _ in range(20)]
    named = [items.watch("quote", ["AAPL"], user="ada") for _ in range(3)]
    for watched in [*crowd, *named]:
        await anext(watched)
    assert await owner.fetchval("select viewers from livewell_private.item") == 21
    assert await owner.fetchval("select count(*) from livewell_private.gateway") == 1
    await store(owner, 7)
    assert [await price_of(watched) for watched in [*crowd, *named]] == [7] * 23
    for watched in [*crowd, *named]:
        await watched.aclose()
    assert await nobody_looks(owner)()


async def test_what_cannot_be_watched_is_refused(owner: Database, items: Items) -> None:
    """An unknown type, a key that is none and too many sessions are one fact each, and nobody is left looking."""
    with pytest.raises(UnknownType, match="unknown type quots"):
        await anext(items.watch("quots", ["AAPL"]))
    with pytest.raises(InvalidKey, match="is no key of type quote"):
        await anext(items.watch("quote", ["a b"]))
    await owner.execute("update livewell_private.setting set value = '1' where name = 'presence.sessions_per_user'")
    await owner.execute("update livewell_private.setting set value = '1' where name = 'presence.items_per_session'")
    async with aclosing(items.watch("quote", ["AAPL"], user="ada")) as first:
        await anext(first)
        with pytest.raises(TooMany, match="ada has too many sessions"):
            await anext(items.watch("quote", ["MSFT"], user="ada"))
    with pytest.raises(TooMany, match="2 items are too many"):
        await anext(items.watch("quote", ["AAPL", "MSFT"]))
    await until(nobody_looks(owner), "nobody is left looking")


async def test_a_type_that_is_removed_ends_its_loops(owner: Database, items: Items) -> None:
    """Whoever watches a type that goes is told so, and who watches another goes on."""
    await make_type(owner, "note")
    async with aclosing(items.watch("note", ["A"])) as notes, aclosing(items.watch("quote", ["AAPL"])) as quotes:
        await anext(notes)
        await anext(quotes)
        await RegistryStore(owner).remove_type("note", force=True, reason=None, actor="tests")
        with pytest.raises(UnknownType):
            await price_of(notes)
        await store(owner, 5)
        assert await price_of(quotes) == 5


async def test_a_type_that_cannot_be_read_ends_only_its_loops(owner: Database, items: Items) -> None:
    """Also an error that is no fact, here a time no program can hold, ends the loops of its type and no other."""
    await make_type(owner, "note")
    async with aclosing(items.watch("note", ["A"])) as notes, aclosing(items.watch("quote", ["AAPL"])) as quotes:
        await anext(notes)
        await anext(quotes)
        await owner.execute(
            "insert into livewell_private.record (data_type, key, value, fetched_at) values ('note', 'A', '1',"
            " '20000-01-01')"
        )
        with pytest.raises(OverflowError):
            await price_of(notes)
        await store(owner, 5)
        assert await price_of(quotes) == 5


async def test_many_keys_are_watched_in_parts(owner: Database, items: Items) -> None:
    """However few keys one call may read, also when that changes, those who watch more are told all of them."""
    await owner.execute("update livewell_private.setting set value = '70' where name = 'fetching.keys_per_read'")
    keys = [f"K{number}" for number in range(160)]
    async with aclosing(items.watch("quote", keys[:80])) as one, aclosing(items.watch("quote", keys[80:])) as other:
        assert [(await anext(one)).key for _ in range(80)] == keys[:80]
        assert [(await anext(other)).key for _ in range(80)] == keys[80:]
        await owner.execute("update livewell_private.setting set value = '1' where name = 'fetching.keys_per_read'")
        await owner.execute(
            "insert into livewell_private.record (data_type, key, value, fetched_at)"
            " select 'quote', key, jsonb_build_object('price', 3), now() from unnest($1::text[]) as key",
            keys,
        )
        for watched in (one, other):
            assert [await price_of(watched) for _ in range(80)] == [3] * 80


async def test_without_notices_changes_are_found_all_the_same(owner: Database, items: Items) -> None:
    """When no notice ever comes, what changed is found by looking."""
    async with aclosing(items.watch("quote", ["AAPL"])) as watched:
        await anext(watched)
        await owner.execute(
            "insert into livewell_private.record (data_type, key, value, fetched_at)"
            " values ('quote', 'AAPL', jsonb_build_object('price', 2), now())"
        )
        assert await price_of(watched) == 2


async def test_what_a_lost_connection_missed_is_found_at_once(
    owner: Database, database_url: str, tcp_proxy: TcpProxy
) -> None:
    """Who listens again looks at everything, long before the clock would say so."""
    await make_type(owner, "quote")
    url = tcp_proxy.through(database_url)
    async with _through(url, NEVER) as items, aclosing(items.watch("quote", ["AAPL"])) as watched:
        await anext(watched)
        await until(lambda: _listens(owner), "the connection listens")
        tcp_proxy.black_hole(Way.TO_CLIENT)
        tcp_proxy.cut()
        await store(owner, 1)
        tcp_proxy.heal()
        assert await price_of(watched) == 1


async def test_a_session_that_could_not_be_ended_is_ended_later(
    owner: Database, database_url: str, tcp_proxy: TcpProxy
) -> None:
    """Who leaves while the database is away is gone once it is back, though others of the process still look."""
    await make_type(owner, "quote")
    async with _through(tcp_proxy.through(database_url)) as items, aclosing(items.watch("quote", ["AAPL"])) as stays:
        await anext(stays)
        leaves = items.watch("quote", ["AAPL"])
        await anext(leaves)
        cut = tcp_proxy.cut_before("close_sessions")
        await leaves.aclose()
        assert cut.is_set()
        await until(lambda: _viewers(owner), "only one still looks")
        await store(owner, 3)
        assert await price_of(stays) == 3


@given(
    steps=st.lists(
        st.one_of(st.just(None), st.tuples(st.sampled_from(["A", "B", "C"]), st.integers(1, 3))), max_size=40
    )
)
@effort(200)
def test_what_is_given_is_never_old_and_never_piles_up(steps: list[tuple[str, int] | None]) -> None:
    """Whatever comes and whenever it is taken: an item waits once, as its newest."""

    async def live_through() -> None:
        watch = Watch(asyncio.create_task(asyncio.Event().wait()))  # type: ignore[arg-type]
        newest: dict[str, StoredItem] = {}
        told: dict[str, StoredItem] = {}
        for number, step in enumerate(steps):
            if step is not None:
                key, value = step
                newest[key] = _item(key, value, NOON + number * SECOND)
                watch.take(newest[key])
            elif told != newest:
                item = await watch.next()
                assert item is not None
                assert item == newest[item.key]
                told[item.key] = item
        for _ in range(sum(told.get(key) != item for key, item in newest.items())):
            item = await watch.next()
            assert item is not None
            told[item.key] = item
        assert told == newest
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await watch.next()

    asyncio.run(live_through())


def _item(key: str, value: int, fetched_at: datetime) -> StoredItem:
    return StoredItem(
        type="quote",
        key=key,
        value=value,
        fetched_at=fetched_at,
        age=SECOND,
        is_stale=False,
        viewers=1,
        why="fresh",
    )


@asynccontextmanager
async def _looking(database: Database, every: timedelta = OFTEN) -> AsyncIterator[Items]:
    items = Items(database, look_every=every)
    yield items
    await items.close()


@asynccontextmanager
async def _through(url: str, every: timedelta = OFTEN) -> AsyncIterator[Items]:
    options = DatabaseOptions(url=url, connect_timeout=timedelta(seconds=2))
    async with await Database.open(options) as database, _looking(database, every) as items:
        yield items


async def test_a_session_that_was_swept_away_is_made_anew(
    owner: Database, database_url: str, tcp_proxy: TcpProxy
) -> None:
    """After an outage longer than sessions live the viewer is there again, and goes on."""
    await make_type(owner, "quote")
    async with _through(tcp_proxy.through(database_url)) as items, aclosing(items.watch("quote", ["AAPL"])) as watched:
        await anext(watched)
        tcp_proxy.cut()
        await owner.execute("update livewell_private.gateway set last_seen = now() - interval '1 hour'")
        await owner.execute("select livewell_private.task_presence_sweep(clock_timestamp())")
        assert await nobody_looks(owner)()
        await until(lambda: _viewers(owner), "the viewer is there again")
        await store(owner, 9)
        assert await price_of(watched) == 9
    assert await nobody_looks(owner)()


async def _viewers(owner: Database) -> bool:
    return bool(await owner.fetchval("select sum(viewers) from livewell_private.item") == 1)


async def test_that_nothing_changed_is_told_at_once(owner: Database, database: Database) -> None:
    """An answer that says what is stored makes an item younger, and who watches hears of it."""
    await make_type(owner, "quote")
    await store(owner, 1)
    async with _looking(database, NEVER) as items, aclosing(items.watch("quote", ["AAPL"])) as watched:
        first = await anext(watched)
        await until(lambda: _listens(owner), "the connection listens")
        await store(owner, 1)
        again = await anext(watched)
        assert again.value == first.value
        assert again.fetched_at is not None
        assert first.fetched_at is not None
        assert again.fetched_at > first.fetched_at


async def test_compare_all_reads_everything(owner: Database, database: Database) -> None:
    """A notice that names nobody is about everybody; what is no notice of ours is about nobody."""
    await make_type(owner, "quote")
    await store(owner, 1)
    async with _looking(database, NEVER) as items, aclosing(items.watch("quote", ["AAPL"])) as watched:
        await anext(watched)
        await until(lambda: _listens(owner), "the connection listens")
        await owner.execute("update livewell_private.record set value = '{\"price\": 2}'")
        for junk in ("", "nonsense", "{}", "[1]", '[["a", 1]]', "[[1]]", "[[7, 7]]", '{"t": "quote", "k": ["AAPL"]}'):
            await owner.execute("select pg_notify('livewell_changes', $1)", junk)
        await owner.execute("select pg_notify('livewell_changes', '[]')")
        assert await price_of(watched) == 2


async def test_without_notices_it_is_looked_every_second(owner: Database, database: Database) -> None:
    """While the server's queue is too full for notices, changes are found by looking."""
    await make_type(owner, "quote")
    await store(owner, 1)
    await owner.execute("update livewell_private.notification_state set quiet = true")
    async with _looking(database, NEVER) as items, aclosing(items.watch("quote", ["AAPL"])) as watched:
        await anext(watched)
        await until(lambda: _listens(owner), "the connection listens")
        for price in (2, 3):
            await store(owner, price)
            assert await price_of(watched) == price


@given(st.one_of(st.text(), st.lists(st.lists(st.one_of(st.integers(), st.text(), st.none()))).map(json.dumps)))
@effort(300)
def test_any_payload_is_read(payload: str) -> None:
    """Any login may notify: what is heard is pairs of numbers, or nothing of ours."""
    told = read_notice(payload)
    assert told is None or all(type(part) is int for pair in told.items() for part in pair)
