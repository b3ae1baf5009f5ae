"""What is watched tells what changed last, and what was warned about."""

from datetime import UTC, datetime

from livewell.app import Livewell
from livewell.cli.news import News, NewsObserver, news_of
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
    """A commit that changes what is watched tells of it: which key, and of one that was seen before, which number."""
    await make_quotes(owner)
    storing = Storing(owner)
    await storing.watch("quote", "AAPL", "MSFT", "IBM")
    async with Livewell(database_url) as app, news_of(app) as news:
        await news.listening.wait()
        now = datetime.now(UTC)
        await storing.fetch("quote", {"AAPL": {"price": 190.5}}, now)
        await told(news, 1)
        await storing.fetch("quote", {"AAPL": {"price": 190.5}}, now)
        await storing.fetch("quote", {"AAPL": {"price": 191}, "MSFT": {"price": 7}}, now + MINUTE)
        await storing.end(refused(await storing.hold_one("quote", "IBM", now)), now=now)
        seen = await told(news, 3)
    assert sorted((change.key, change.what) for change in seen.changes) == [
        ("AAPL", ""),
        ("AAPL", "price 190.5 → 191"),
        ("MSFT", ""),
    ]
    (warning,) = seen.warnings
    assert (warning.subject, warning.message) == ("quote", "IBM: not as it should be (schema)")
