"""`livewell init`, `tail` and `warnings` as somebody at a terminal uses them."""

import asyncio
import signal
from datetime import UTC, datetime
from pathlib import Path

from livewell.kernel import Database, DatabaseOptions
from livewell.testing import OwnServer, make_type, until
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
        "insert into livewell_private.record (data_type, key, value, fetched_at) values ('quote', $1,"
        " $2::text::jsonb, $3)",
        key,
        value,
        datetime.now(UTC),
    )


async def test_tail_looks_and_prints(cli: Cli, owner: Database) -> None:
    """Who tails is a viewer: each key is printed with its value, age and next refresh, and nobody is left looking."""
    await make_type(owner, "quote")
    await _stored(owner, "AAPL", '{"symbol": "AAPL", "price": 190.12, "at": {"day": 1}}')
    await _stored(owner, "MSFT", '[{"day": 1, "price": 411}, {"day": 2, "price": 412}]')
    shown = (await cli("tail", "quote", "AAPL", "MSFT", "--count", 2)).out
    assert "AAPL  price 190.12  age" in shown
    assert "MSFT  2 rows  age" in shown
    assert [line.split() for line in shown.splitlines()[-2:]] == [
        ["day", "1", "price", "411"],
        ["day", "2", "price", "412"],
    ]
    assert "(1 viewer)" in shown
    asked = (await cli("tail", "quote", "AAPL", "--count", 1, "--fields", "at,volume,price")).out
    assert 'AAPL  at {"day":1}  volume –  price 190.12  age' in asked
    told = (await cli("tail", "quote", "AAPL", "--count", 1, "--json")).json
    assert (told["key"], told["value"]["at"], told["viewers"], told["why"]) == ("AAPL", {"day": 1}, 1, "fresh")
    assert await owner.fetchval("select sum(viewers) from livewell_private.item") == 0
    assert await owner.fetchval("select count(*) from livewell_private.session") == 0


async def test_tail_refuses_what_is_not_there(cli: Cli) -> None:
    """An unknown type is one line, as are fields that are none, and nobody is left looking."""
    assert "unknown type nosuch" in (await cli("tail", "nosuch", "AAPL", code=1)).err
    assert "names no fields" in (await cli("tail", "quote", "AAPL", "--fields", "price,", code=2)).err


async def test_tail_ends_its_session_at_ctrl_c(cli: Cli, owner: Database) -> None:
    """Ctrl-C is the usual end: no trace, no error, and nobody is left looking."""
    await make_type(owner, "quote")
    await _stored(owner, "AAPL", '{"price": 1}')
    async with cli.running("tail", "quote", "AAPL") as tailing:
        assert tailing.inner.stdout is not None
        assert b"price 1" in await tailing.inner.stdout.readline()
        tailing.send(signal.SIGINT)
        assert await tailing.ended() == 0
    assert await owner.fetchval("select count(*) from livewell_private.session") == 0


async def test_tail_outlasts_a_restart_and_ends_when_told(own_server: OwnServer, tmp_path: Path) -> None:
    """While PostgreSQL restarts, tail waits and goes on, a viewer again should it have been swept away; at SIGTERM its
    session ends with it.
    """
    cli = Cli(tmp_path, own_server.database_url)
    async with await Database.open(DatabaseOptions(url=own_server.owner_url)) as owner:
        await make_type(owner, "quote")
        await _stored(owner, "AAPL", '{"price": 1}')
        async with cli.running("tail", "quote", "AAPL") as tailing:
            assert tailing.inner.stdout is not None
            async with asyncio.timeout(60):
                assert b"price 1" in await tailing.inner.stdout.readline()
                await own_server.stop_at_once()
                await own_server.start()
                await owner.execute("update livewell_private.gateway set last_seen = now() - interval '1 hour'")
                await owner.execute("select livewell_private.task_presence_sweep(clock_timestamp())")
                # Heard if it listens again by now, else found when it does.
                await owner.execute(
                    "with stored as (update livewell_private.record set value = '{\"price\": 2}' returning"
                    " data_type, key)"
                    " select pg_notify('livewell_changes', jsonb_build_array(jsonb_build_array(i.id, i.version))::text)"
                    " from stored join livewell_private.item as i using (data_type, key)"
                )
                assert b"price 2" in await tailing.inner.stdout.readline()
            await until(lambda: _somebody_looks(owner), "it looks again")
            tailing.send(signal.SIGTERM)
            assert await tailing.ended() == 0
        assert not await _somebody_looks(owner)
        assert await owner.fetchval("select count(*) from livewell_private.session") == 0


async def _somebody_looks(owner: Database) -> bool:
    return bool(await owner.fetchval("select sum(viewers) > 0 from livewell_private.item"))


async def test_warnings_are_listed(cli: Cli, owner: Database) -> None:
    """What was odd and survived is shown by code and subject, of a room or of one code, as far back as asked."""
    assert (await cli("warnings", "--json")).json == []
    for code, subject in (("fetching.refused", "quote"), ("presence.source_silent", "site")):
        await owner.execute("select livewell_private.warn($1, $2, 'it was odd', clock_timestamp())", code, subject)
    await owner.execute(
        "select livewell_private.warn('fetching.old', 'quote', 'long ago', clock_timestamp() - interval '9 hours')"
    )
    shown = (await cli("warnings")).out
    assert "fetching.refused" in shown
    assert "presence.source_silent" in shown
    assert [warning["code"] for warning in (await cli("warnings", "fetching", "--last", "1h", "--json")).json] == [
        "fetching.refused"
    ]
    assert "is not a duration" in (await cli("warnings", "--last", "soon", code=2)).err
