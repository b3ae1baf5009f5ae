"""The demonstration shows what changed last, and what was refused."""

from datetime import UTC, datetime

import pytest

from livewell.app import Livewell
from livewell.cli.live_view import news_table
from livewell.cli.news import Change, News, NewsObserver, news_of
from livewell.cli.output import console
from livewell.fetching.tests.storing_surface import MINUTE, Storing, make_quotes, refused
from livewell.kernel import Database
from livewell.testing import until


async def told(news: NewsObserver, number: int) -> News:
    """The news, once so many changes were heard of."""
    seen = News()

    async def heard() -> bool:
        nonlocal seen
        seen = await news.look()
        return len(seen.changes) >= number

    await until(heard, f"{number} changes are told")
    return seen


async def test_changes_are_told_with_what_they_were(owner: Database, database_url: str) -> None:
    """A commit that stores something tells of it: which key, and of one that was seen before, which number."""
    await make_quotes(owner)
    storing = Storing(owner)
    async with Livewell(database_url) as app, news_of(app) as news:
        await news.listening.wait()
        now = datetime.now(UTC)
        await storing.fetch("quote", {"AAPL": {"price": 190.5}}, now)
        await told(news, 1)
        await storing.fetch("quote", {"AAPL": {"price": 191}, "MSFT": {"price": 7}}, now + MINUTE)
        await storing.end(refused(await storing.hold_one("quote", "IBM", now)), now=now)
        seen = await told(news, 3)
    assert sorted((one.key, one.what) for one in seen.changes) == [
        ("AAPL", ""),
        ("AAPL", "price 190.5 → 191"),
        ("MSFT", ""),
    ]
    (refusal,) = seen.refusals
    assert refusal.endswith("quote: IBM: not as it should be (schema)")


def test_news_are_part_of_the_picture(capsys: pytest.CaptureFixture[str]) -> None:
    """Changes and refusals stand side by side, whatever characters they hold."""
    at = datetime(2026, 11, 16, 12, tzinfo=UTC)
    change = Change(at=at, data_type="quote", key="[BRK.A]", what="price 1 → 2")
    refusal = "12:00:01  quote: IBM: price: [/] not a number (schema)"
    console().print(news_table(News(changes=[change], refusals=[refusal])))
    shown = capsys.readouterr().out
    assert "last changes" in shown
    assert "12:00:00  quote [BRK.A]  price 1 → 2" in shown
    assert "quote: IBM: price: [/]" in shown
