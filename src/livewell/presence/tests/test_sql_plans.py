"""What a gateway calls for one client costs what that client has, however many others there are.

Plans are judged by what they do: the server's own counts of the transaction tell how many rows were read, and whether
a table was read from end to end.
"""

from livewell.kernel import Database
from livewell.presence.store import QUERIES
from livewell.presence.tests.surface import NOON, PresenceSql, session_id

# Twenty thousand sessions at one gateway, each of which looks at three of a thousand items, all of them fresh. Nothing
# was ever analyzed.
FILL = """
insert into livewell_private.gateway (name, last_seen)
values ('g', '2025-01-01 12:00+00'), ('h', '2025-01-01 12:00+00');
insert into livewell_private.item (data_type, key, due_at, viewers, expires_at)
select 'quote', 'K' || n, '2025-01-01 12:00+00', 60, '2025-01-02 12:00+00' from generate_series(0, 999) as n;
insert into livewell_private.session (id, user_id, gateway, last_seen)
select lpad(to_hex(n), 32, '0')::uuid, 'u' || n, 'g', '2025-01-01 12:00+00' from generate_series(1, 20000) as n;
insert into livewell_private.subscription (session_id, item_id)
select lpad(to_hex(n), 32, '0')::uuid, i.id
from generate_series(1, 20000) as n cross join generate_series(0, 2) as more
join livewell_private.item as i on i.key = 'K' || (n + more) % 1000;
insert into livewell_private.viewer (item_id, user_id, sessions)
select c.item_id, s.user_id, 1
from livewell_private.subscription as c join livewell_private.session as s on s.id = c.session_id;
"""
READ = """
select sum(seq_tup_read) as whole, sum(idx_tup_fetch) as by_index
from pg_stat_xact_user_tables where relname in ('session', 'subscription', 'viewer', 'item')
"""
# $1: the session, $2: the item of K7, $3: now.
CALLS = {
    "subscribe": "livewell.subscribe(array[$1::uuid], '{quote}', '{K50}', $3, 'g')",
    "unsubscribe": "livewell.unsubscribe(array[$1::uuid], '{quote}', '{K7}', $3, 'g')",
    "resume": "livewell.resume('h', $1::uuid, 'u7', '{quote,quote}', '{K7,K50}', $3)",
    "ask": "livewell.ask_for_items(array[$1::uuid], array[$2::bigint], $3)",
    "close": "livewell.close_sessions(array[$1::uuid], $3, 'g')",
    "open": "livewell.open_sessions(array[$1::uuid], '{u7}', 'h', $3)",
}


async def test_a_call_for_one_client_reads_what_that_client_has(presence: PresenceSql, owner: Database) -> None:
    """With twenty thousand sessions at a gateway no table is read from end to end, and few rows at all."""
    await owner.execute(FILL)
    item = await owner.fetchval("select id from livewell_private.item where key = 'K7'")
    for name, call in CALLS.items():
        asked = "select from (select $1::uuid, $2::bigint, $3::timestamptz) as a, lateral " + call
        read = await _read(owner, asked, session_id(7), item, NOON)
        assert read["whole"] == 0, name
        assert 0 < read["by_index"] <= 100, (name, read)
    await presence.open((20_001, "anna"), gateway="h")
    assert await _read(owner, QUERIES["sessions_of_gateway"], "h") == {"whole": 0, "by_index": 1}


async def _read(owner: Database, statement: str, *arguments: object) -> dict[str, int]:
    """How many rows a statement reads, which is then undone; what was read before is told to the server first."""
    async with owner.connection() as connection:
        await connection.execute("select pg_stat_force_next_flush()")
        block = connection.transaction()
        await block.start()
        await connection.execute(statement, *arguments)
        (read,) = await connection.fetch(READ)
        await block.rollback()
    return {name: int(rows) for name, rows in read.items()}
