"""Items: found or made, watched by so many."""

import asyncio
from datetime import timedelta

import pytest

from livewell.freshness import InvalidKey, UnknownType
from livewell.freshness.tests.surface import DAY, MINUTE, NOON, Freshness
from livewell.kernel import Database
from livewell.testing import make_type


async def test_made_once(owner: Database, freshness: Freshness) -> None:
    """A type and key is one item, however often it is asked for, and answers come in the order asked."""
    await make_type(owner, "quote")
    first = await freshness.items("quote", ["AAPL", "MSFT", "AAPL"])
    assert first[0] == first[2] != first[1]
    assert await freshness.items("quote", ["MSFT", "AAPL"]) == [first[1], first[0]]


async def test_made_once_by_many(owner: Database, freshness: Freshness) -> None:
    """Eight callers that make the same items in opposite orders get the same ids, and none is refused."""
    await make_type(owner, "quote")
    keys = [f"K{number}" for number in range(200)]
    answers = await asyncio.gather(
        *(freshness.items("quote", keys if number % 2 else keys[::-1]) for number in range(8))
    )
    expected = set(answers[0])
    assert len(expected) == len(keys)
    assert all(set(ids) == expected for ids in answers)


@pytest.mark.parametrize("key", ["", "A B", "'; drop table livewell_private.item; --", "x" * 101, "AAPL\n", "é"])
async def test_bad_key(owner: Database, freshness: Freshness, key: str) -> None:
    """What is no key of its type refuses the whole batch."""
    await make_type(owner, "quote")
    with pytest.raises(InvalidKey, match="is no key of type quote"):
        await freshness.items("quote", ["AAPL", key])
    assert await owner.fetchval("select count(*) from livewell_private.item") == 0


async def test_unknown_type(owner: Database, freshness: Freshness) -> None:
    """A type nobody declared, or one that is disabled, has no items."""
    await make_type(owner, "old", enabled=False)
    with pytest.raises(UnknownType, match="unknown data type quotes"):
        await freshness.items("quotes", ["AAPL"])
    with pytest.raises(UnknownType, match="old is disabled"):
        await freshness.items("old", ["AAPL"])


async def test_first_viewer_makes_due(owner: Database, freshness: Freshness) -> None:
    """The first viewer makes an item due at once and watched since then; a second changes neither, the last ends it."""
    await make_type(owner, "quote")
    [item] = await freshness.items("quote", ["AAPL"])
    await owner.execute("update livewell_private.item set due_at = $1", NOON + DAY)
    await freshness.change([item], 1, NOON + MINUTE)
    seen = await freshness.item(item)
    assert (seen["viewers"], seen["due_at"], seen["watched_since"]) == (1, NOON + MINUTE, NOON + MINUTE)
    await owner.execute("update livewell_private.item set due_at = $1", NOON + DAY)
    await freshness.change([item], 1, NOON + 2 * MINUTE)
    seen = await freshness.item(item)
    assert (seen["viewers"], seen["due_at"], seen["watched_since"]) == (2, NOON + DAY, NOON + MINUTE)
    await freshness.change([item], -2, NOON + 3 * MINUTE)
    seen = await freshness.item(item)
    assert (seen["viewers"], seen["watched"], seen["watched_since"]) == (0, False, None)


async def test_slow_average(owner: Database, freshness: Freshness) -> None:
    """The slow average of viewers moves half of the way to their number in a day."""
    await make_type(owner, "quote")
    [item] = await freshness.watch("quote", ["AAPL"], viewers=8)
    await freshness.change([item], -8, NOON + DAY)
    assert (await freshness.item(item))["viewers_average"] == pytest.approx(4)
    await freshness.change([item], 1, NOON + 2 * DAY)
    assert (await freshness.item(item))["viewers_average"] == pytest.approx(2)
    await freshness.change([item], 1, NOON + 2 * DAY - timedelta(hours=1))
    assert (await freshness.item(item))["viewers_average"] == pytest.approx(2), "a clock that goes back forgets nothing"


async def test_never_negative(owner: Database, freshness: Freshness) -> None:
    """More viewers than there are cannot go."""
    await make_type(owner, "quote")
    [item] = await freshness.watch("quote", ["AAPL"])
    with pytest.raises(Exception, match="item_viewers_are_not_negative"):
        await freshness.change([item], -2)
    assert (await freshness.item(item))["viewers"] == 1


async def test_second_viewer_leaves_the_indexes_alone(owner: Database, freshness: Freshness) -> None:
    """A viewer more of a watched item is written beside the row, without an entry in any index."""
    await make_type(owner, "quote")
    [item] = await freshness.watch("quote", ["AAPL"])
    async with owner.transaction() as transaction:
        await Freshness(transaction).change([item], 1)
        hot = await transaction.fetchval(
            "select n_tup_hot_upd from pg_stat_xact_user_tables where schemaname = 'livewell_private' and"
            " relname = 'item'"
        )
    assert hot == 1


async def test_no_viewer_of_nothing(owner: Database, freshness: Freshness) -> None:
    """An item that was removed gains no viewer: the whole change is refused; that one leaves it is no error."""
    await make_type(owner, "quote")
    a, b = await freshness.watch("quote", ["A", "B"])
    await owner.execute("delete from livewell_private.item where id = $1", b)
    with pytest.raises(UnknownType, match="was removed"):
        await freshness.change([a, b], 1)
    assert (await freshness.item(a))["viewers"] == 1
    await freshness.change([a, b], -1)
    assert (await freshness.item(a))["viewers"] == 0
