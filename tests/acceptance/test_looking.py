"""`livewell init`, `tail` and `warnings` as somebody at a terminal uses them."""

from datetime import UTC, datetime

from livewell.kernel import Database
from livewell.testing import make_type
from tests.acceptance.command import Cli


async def test_init_writes_a_file_that_can_be_applied(owner_cli: Cli) -> None:
    """The file is written once, never over another, and everything in it is sound."""
    assert "livewell.toml is written" in (await owner_cli("init")).out
    assert "[cli.file_unavailable]" in (await owner_cli("init", code=1)).err
    await owner_cli("init", "--force")
    assert "+ type quote" in (await owner_cli("apply", "--plan")).out
    assert "applied: 3 things changed" in (await owner_cli("apply", "--yes")).out


async def _stored(owner: Database, key: str, value: str) -> None:
    await owner.execute(
        "insert into livewell.record (data_type, key, value, fetched_at) values ('quote', $1, $2::text::jsonb, $3)",
        key,
        value,
        datetime.now(UTC),
    )


async def test_tail_looks_and_prints(cli: Cli, owner: Database) -> None:
    """Who tails is a viewer: each key is printed with its value, age and next refresh, and nobody is left looking."""
    await make_type(owner, "quote")
    await _stored(owner, "AAPL", '{"symbol": "AAPL", "price": 190.12}')
    await _stored(owner, "MSFT", '{"symbol": "MSFT", "price": 411}')
    shown = (await cli("tail", "quote", "AAPL", "MSFT", "--count", 2)).out
    assert "AAPL  price 190.12  age" in shown
    assert "MSFT  price 411  age" in shown
    assert "(1 viewer)" in shown
    told = (await cli("tail", "quote", "AAPL", "--count", 1, "--json")).json
    assert (told["key"], told["value"]["price"], told["viewers"]) == ("AAPL", 190.12, 1)
    assert await owner.fetchval("select sum(viewers) from livewell.item") == 0
    assert await owner.fetchval("select count(*) from livewell.session") == 0


async def test_tail_refuses_what_is_not_there(cli: Cli) -> None:
    """An unknown type is one line, and nobody is left looking."""
    assert "unknown data type nosuch" in (await cli("tail", "nosuch", "AAPL", code=1)).err


async def test_warnings_are_listed(cli: Cli, owner: Database) -> None:
    """What was odd and survived is shown by code and subject, of a room or of one code, as far back as asked."""
    assert (await cli("warnings", "--json")).json == []
    for code, subject in (("fetching.refused", "quote"), ("presence.source_silent", "site")):
        await owner.execute("select livewell.warn($1, $2, 'it was odd', clock_timestamp())", code, subject)
    await owner.execute(
        "select livewell.warn('fetching.old', 'quote', 'long ago', clock_timestamp() - interval '9 hours')"
    )
    shown = (await cli("warnings")).out
    assert "fetching.refused" in shown
    assert "presence.source_silent" in shown
    assert [one["code"] for one in (await cli("warnings", "fetching", "--last", "1h", "--json")).json] == [
        "fetching.refused"
    ]
    assert "is not a duration" in (await cli("warnings", "--last", "soon", code=2)).err
