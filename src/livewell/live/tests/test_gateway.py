"""A gateway tells those who look what there is: at once, whenever it changes, and nothing twice."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

from livewell.app import Livewell
from livewell.kernel import Database
from livewell.live import CloseCode
from livewell.live.metrics import LOOKS
from livewell.testing import ServedApi, make_access_key, put, serving, until, viewing

AAPL = ("quote", "AAPL")


def counted() -> float:
    """How often the database was asked how items stand."""
    (metric,) = LOOKS.collect()
    return metric.samples[0].value


async def test_who_looks_is_told_what_there_is_and_what_changes(app: Livewell, served: ServedApi) -> None:
    """A viewer gets the row that is stored, with its age, and the next one as soon as it is stored."""
    await put(app.database, "AAPL", {"price": 1})
    async with viewing(served.address) as viewer:
        await viewer.hello(AAPL)
        row = await viewer.next("row")
        assert (row["value"], row["type"], row["key"]) == ({"price": 1}, "quote", "AAPL")
        assert 0 <= row["age"] < 60_000 < row["age"] + row["fresh"] + 1000
        await put(app.database, "AAPL", {"price": 2})
        newer = await viewer.next("row")
        assert newer["value"] == {"price": 2}
        assert int(newer["version"].split(".")[0]) > int(row["version"].split(".")[0])


async def test_what_is_not_stored_yet_is_told_when_it_comes(app: Livewell, served: ServedApi) -> None:
    """Of a key that was never fetched there is no value and no age, until there is."""
    async with viewing(served.address) as viewer:
        await viewer.hello(AAPL)
        row = await viewer.next("row")
        assert (row["value"], row["age"], row["fresh"]) == (None, None, None)
        await put(app.database, "AAPL", {"price": 1})
        assert (await viewer.next("row"))["value"] == {"price": 1}


async def test_who_has_it_already_is_told_only_its_age(app: Livewell, served: ServedApi) -> None:
    """A client that comes back with the version that is stored gets no row; with another one it gets the row."""
    await put(app.database, "AAPL", {"price": 1})
    async with viewing(served.address) as viewer:
        await viewer.hello(AAPL)
        version = (await viewer.next("row"))["version"]
    async with viewing(served.address) as viewer:
        await viewer.hello(items=[{"type": "quote", "key": "AAPL", "version": version}])
        assert (await viewer.until(lambda frame: frame["frame"] in {"row", "age"}))["frame"] == "age"
    await put(app.database, "AAPL", {"price": 2})
    async with viewing(served.address) as viewer:
        await viewer.hello(items=[{"type": "quote", "key": "AAPL", "version": version}])
        assert (await viewer.next("row"))["value"] == {"price": 2}


async def test_looked_again_and_unchanged_is_an_age(app: Livewell, served: ServedApi) -> None:
    """What was confirmed is younger, and is not sent again."""
    await put(app.database, "AAPL", {"price": 1}, ago=timedelta(seconds=5))
    async with viewing(served.address) as viewer:
        await viewer.hello(AAPL)
        await viewer.next("row")
        await put(app.database, "AAPL", {"price": 1})
        told = await viewer.until(lambda frame: frame["frame"] in {"row", "age"})
        assert told["frame"] == "age"


async def test_looking_is_presence_and_leaving_ends_it(app: Livewell, served: ServedApi, owner: Database) -> None:
    """A connection is a session, what it looks at its subscriptions; a clean close ends all of it at once."""
    viewers = "select coalesce(sum(viewers), 0) from livewell_private.item"

    async def nobody() -> bool:
        return bool(await owner.fetchval(viewers) == 0)

    async with viewing(served.address) as viewer:
        await viewer.hello(AAPL, ("quote", "MSFT"))
        assert await owner.fetchval(viewers) == 2
        await viewer.drop(("quote", "MSFT"))

        async def one() -> bool:
            return bool(await owner.fetchval(viewers) == 1)

        await until(one, "what was dropped is looked at no more")
    await until(nobody, "nobody is left looking")


async def test_what_cannot_be_looked_at_is_answered_alone(app: Livewell, served: ServedApi) -> None:
    """An unknown type and a key that is none are refused each with its reason; the others are looked at."""
    await put(app.database, "AAPL", {"price": 1})
    async with viewing(served.address) as viewer:
        await viewer.hello(AAPL, ("qoute", "AAPL"), ("quote", "a b"))
        assert (await viewer.next("row"))["value"] == {"price": 1}
        while len(viewer.refused) < 2:
            await viewer.next("no")
        assert {named: frame["code"] for named, frame in viewer.refused.items()} == {
            ("qoute", "AAPL"): "registry.unknown_type",
            ("quote", "a b"): "freshness.invalid_key",
        }


async def test_a_change_while_nobody_listens_is_found(app: Livewell, served: ServedApi, owner: Database) -> None:
    """When the listening connection was lost, what changed meanwhile is told once it is back."""
    await put(app.database, "AAPL", {"price": 1})
    async with viewing(served.address) as viewer:
        await viewer.hello(AAPL)
        await viewer.next("row")
        await owner.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and query ilike 'listen%'"
        )
        await owner.execute("update livewell_private.notification_state set quiet = true")
        await put(app.database, "AAPL", {"price": 2})
        await owner.execute("update livewell_private.notification_state set quiet = false")
        assert (await viewer.next("row"))["value"] == {"price": 2}


async def test_smaller_versions_are_told_too(app: Livewell, served: ServedApi, owner: Database) -> None:
    """After a backup was put back versions are smaller: whoever holds a greater one gets the row all the same."""
    await put(app.database, "AAPL", {"price": 2})
    async with viewing(served.address) as viewer:
        await viewer.hello(AAPL)
        before = await viewer.next("row")
        await owner.execute("update livewell_private.item set version = 7")
        await owner.execute("update livewell_private.record set value = '{\"price\": 1}'")
        await owner.execute("select pg_notify('livewell_changes', '[]')")
        row = await viewer.next("row")
        assert (row["value"], row["version"].split(".")[0]) == ({"price": 1}, "7")
        assert row["version"] != before["version"]


async def test_a_forged_notice_costs_one_look(app: Livewell, served: ServedApi, owner: Database) -> None:
    """A notice that names a version which is not there tells nobody anything, and is not believed again at once."""
    await put(app.database, "AAPL", {"price": 1})
    async with viewing(served.address) as viewer:
        await viewer.hello(AAPL)
        await viewer.next("row")
        item = await owner.fetchval("select id from livewell_private.item")
        looks = counted()
        await owner.execute(
            "select pg_notify('livewell_changes', format('[[%s, %s]]', $1::bigint, 9000000000000000 + number))"
            " from generate_series(1, 200) as number",
            item,
        )
        for strange in ("", "x", "{}", "[1]", '[["a", 1]]', "[[1]]", "[[1, null]]", f"[[{item}, 1.5]]"):
            await owner.execute("select pg_notify('livewell_changes', $1)", strange)
        await put(app.database, "AAPL", {"price": 2})
        assert (await viewer.next("row"))["value"] == {"price": 2}
        assert counted() - looks < 10


async def test_a_session_is_resumed_with_its_list(app: Livewell, served: ServedApi, owner: Database) -> None:
    """Who was cut off comes back with its session, looks at exactly what it names, and counts once."""
    await put(app.database, "AAPL", {"price": 1})
    async with viewing(served.address) as first:
        await first.hello(AAPL, ("quote", "MSFT"))
        async with viewing(served.address) as second:
            await second.hello(AAPL, ("quote", "GOOG"), session=first.session)
            assert second.session == first.session
            assert await first.ended() == CloseCode.RESUMED_ELSEWHERE
            assert (await second.next("row", "AAPL"))["value"] == {"price": 1}
            keys = await owner.fetch("select key from livewell_private.item where viewers = 1 order by key")
            assert [row["key"] for row in keys] == ["AAPL", "GOOG"]


async def test_the_session_of_another_user_is_not_taken(served: ServedApi, owner: Database) -> None:
    """Who names a session that is not its own gets another one."""
    key = (await make_access_key(owner, user="ada")).key.reveal()
    async with viewing(served.address) as first, viewing(served.address) as second:
        await first.hello(AAPL)
        await second.hello(AAPL, session=first.session, token=key)
        assert second.session != first.session
        await first.watch(("quote", "MSFT"))
        await first.next("row", "MSFT")


async def test_clients_are_sent_elsewhere_when_it_stops(app: Livewell) -> None:
    """A gateway that stops says goodbye with a time to come back, closes, and leaves no session behind."""
    async with serving(app) as served:
        viewers = [viewing(served.address) for _ in range(3)]
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(viewer) for viewer in viewers]
            for viewer in opened:
                await viewer.hello(AAPL)
            closing = asyncio.ensure_future(served.gateway.close())
            for viewer in opened:
                bye = await viewer.next("bye")
                assert (bye["code"], bye["come_back"] > 0) == (CloseCode.GOING_AWAY, True)
                assert await viewer.ended() == CloseCode.GOING_AWAY
            await closing
    assert await app.database.fetchval("select count(*) from livewell.sessions") == 0
