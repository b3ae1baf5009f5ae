"""The way to PostgreSQL when something is wrong with it: cut, slow, silent, full, contended."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg
import pytest

from livewell.kernel import (
    Caller,
    Contended,
    Database,
    DatabaseOptions,
    DatabaseUnavailable,
    NotMigrated,
    NotPermitted,
    StatementTimedOut,
    TransactionRolledBack,
)
from livewell.testing import OwnServer, TcpProxy, captured_logs, connected, until

_PID = "select pg_backend_pid()"


@asynccontextmanager
async def _opened(url: str, **options: object) -> AsyncIterator[Database]:
    async with await Database.open(replace(DatabaseOptions(url=url), **options)) as database:  # type: ignore[arg-type]
        yield database


async def test_a_wrong_address_is_told_at_once_in_one_line(database_url: str) -> None:
    """Opening a database that is not there fails there and then, with what to check."""
    with pytest.raises(DatabaseUnavailable, match="check DATABASE_URL") as caught:
        await Database.open(DatabaseOptions(url=database_url.replace("?", "_gone?")))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("of", ["pool", "line"])
async def test_a_terminated_connection_is_opened_again(database: Database, owner: Database, of: str) -> None:
    """A connection that the server ended is replaced by the next call, of the pool and of a line alike."""
    caller: Caller = database if of == "pool" else database.line()
    for _ in range(3):
        pid = await caller.fetchval(_PID)
        await owner.execute("select pg_terminate_backend($1)", pid)
        await until(partial(_is_gone, owner, pid), "the backend is gone")
        with suppress(DatabaseUnavailable):
            await caller.fetchval(_PID)
        assert await caller.fetchval(_PID) != pid


async def test_a_call_cut_in_the_middle_is_told_as_unavailable(database: Database, owner: Database) -> None:
    """Whether a cut call took effect is unknown, and the fact says just that; the next call works."""
    call = asyncio.create_task(database.execute("select pg_sleep(60)"))
    await until(partial(_sleeps, owner), "the call runs")
    await owner.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where wait_event = 'PgSleep' and datname = current_database()"
    )
    with pytest.raises(DatabaseUnavailable):
        await call
    assert await database.fetchval("select 1") == 1


async def test_a_slow_statement_is_ended_by_the_server(database_url: str) -> None:
    """A statement over its time limit is a fact, had no effect, and leaves the connection usable."""
    async with _opened(database_url, statement_timeout=timedelta(milliseconds=100), pool_size=1) as database:
        pid = await database.fetchval(_PID)
        with pytest.raises(StatementTimedOut):
            await database.execute("select pg_sleep(60)")
        assert await database.fetchval(_PID) == pid


@pytest.mark.parametrize("asks_again", [True, False])
async def test_an_idle_transaction_is_ended_by_the_server(
    database_url: str, owner: Database, *, asks_again: bool
) -> None:
    """A caller that forgets its transaction does not keep its locks for ever, and is told so at its end at least."""
    async with _opened(database_url, idle_in_transaction_timeout=timedelta(milliseconds=50)) as database:

        async def forget() -> None:
            async with database.transaction() as connection:
                pid = await connection.fetchval(_PID)
                await until(partial(_is_gone, owner, pid), "the server ended it")
                if asks_again:
                    await connection.fetchval("select 1")

        with pytest.raises(DatabaseUnavailable):
            await forget()


async def test_a_silent_server_is_given_up(own_server: OwnServer) -> None:
    """A backend stopped in its tracks says nothing; the client gives up a little after the server should have."""
    limits = {"statement_timeout": timedelta(milliseconds=300), "answer_grace": timedelta(milliseconds=200)}
    async with _opened(own_server.database_url, **limits, pool_size=1) as database:
        pid = await database.fetchval(_PID)
        os.kill(pid, signal.SIGSTOP)
        try:
            begun = time.monotonic()
            with pytest.raises(DatabaseUnavailable):
                await database.fetchval("select 1")
            assert 0.4 < time.monotonic() - begun < 5
            assert await database.fetchval(_PID) != pid
        finally:
            os.kill(pid, signal.SIGCONT)


async def test_a_silent_network_is_given_up_inside_a_transaction(database_url: str, tcp_proxy: TcpProxy) -> None:
    """Each statement of a transaction is bounded, its end too, and the pool gets over it."""
    async with _opened(
        tcp_proxy.through(database_url),
        statement_timeout=timedelta(milliseconds=200),
        answer_grace=timedelta(milliseconds=100),
        connect_timeout=timedelta(seconds=1),
    ) as database:

        async def call_into_the_void() -> None:
            async with asyncio.timeout(10), database.transaction() as connection:
                await connection.execute("select 1")
                tcp_proxy.black_hole()
                await connection.execute("select 1")

        with pytest.raises(DatabaseUnavailable):
            await call_into_the_void()
        tcp_proxy.heal()
        assert await database.fetchval("select 1") == 1


async def test_a_deadlock_is_tried_again(owner: Database, owner_url: str) -> None:
    """The victim of a deadlock repeats its call, which had no effect, and succeeds when the other is done."""
    await owner.execute("create table fork (id integer primary key, holder text)")
    await owner.execute("insert into fork values (1, 'nobody'), (2, 'nobody')")
    name = await owner.fetchval("select current_database()")
    await owner.execute(f"alter database {name} set deadlock_timeout = '50ms'")
    both = "do $$ begin update fork set holder = 'us' where id = 1; update fork set holder = 'us' where id = 2; end $$"
    async with connected(owner_url) as other, _opened(owner_url) as database:
        await other.execute("set deadlock_timeout = '1min'")
        held = other.transaction()
        await held.start()
        await other.execute("update fork set holder = 'them' where id = 2")
        with captured_logs() as logs:
            call = asyncio.create_task(database.execute(both))
            await until(partial(_waits_for_lock, owner, 1), "we hold the first and wait for the second")
            await other.execute("update fork set holder = 'them' where id = 1")
            await until(partial(_contended, logs), "we were the victim")
            await held.commit()
            await call
    assert [row["holder"] for row in await owner.fetch("select holder from fork")] == ["us", "us"]


async def test_a_row_whose_partition_is_being_made_is_tried_again(owner: Database, owner_url: str) -> None:
    """A row bound for the default partition while its own is attached fails in the server, and is put there next."""
    await owner.execute("create table visit (day int) partition by range (day)")
    await owner.execute("create table visit_default partition of visit default")
    await owner.execute("create table visit_1 (day int)")
    async with connected(owner_url) as maker:
        held = maker.transaction()
        await held.start()
        await maker.execute("lock table visit_default in access exclusive mode")
        call = asyncio.create_task(owner.execute("insert into visit values (1)"))
        waiting = "select exists (select from pg_locks where relation = 'visit_default'::regclass and not granted)"
        await until(partial(maker.fetchval, waiting), "the row waits for the default partition")
        await maker.execute("alter table visit attach partition visit_1 for values from (1) to (2)")
        await held.commit()
        await call
    assert await owner.fetchval("select tableoid::regclass::text from visit") == "visit_1"


async def test_contention_is_not_tried_for_ever(owner_url: str) -> None:
    """What is contended again and again is told as a fact after a bounded number of attempts."""
    async with _opened(owner_url, contention_retries=2) as database:
        await database.execute("create sequence tries")
        with pytest.raises(Contended):
            await database.execute("do $$ begin perform nextval('tries'); raise sqlstate '40001'; end $$")
        assert await database.fetchval("select last_value from tries") == 3


async def test_a_line_does_not_wait_for_the_pool(database_url: str) -> None:
    """With every connection of the pool in use a line still calls; the pool tells that it is exhausted."""
    async with _opened(database_url, pool_size=1, connect_timeout=timedelta(milliseconds=200)) as database:
        line = database.line()
        async with database.transaction():
            assert await line.fetchval("select 1") == 1
            with pytest.raises(DatabaseUnavailable, match="free"):
                await database.fetchval("select 1")
        assert await database.fetchval("select 1") == 1


async def test_calls_on_a_line_take_turns(database: Database) -> None:
    """A line is one connection: calls made at once follow each other on it."""
    line = database.line()
    pids = await asyncio.gather(*(line.fetchval(_PID) for _ in range(5)))
    assert len(set(pids)) == 1


async def test_a_transaction_is_all_or_nothing(owner: Database) -> None:
    """What the block did is kept when it ends well and gone when it does not."""
    await owner.execute("create table kept (id integer)")
    with suppress(ZeroDivisionError):
        async with owner.transaction() as connection:
            await connection.execute("insert into kept values (1)")
            raise ZeroDivisionError
    async with owner.transaction() as connection:
        await connection.execute("insert into kept values (2)")
    assert [row["id"] for row in await owner.fetch("select id from kept")] == [2]


async def test_a_failure_swallowed_in_a_transaction_does_not_pass_for_a_commit(owner: Database) -> None:
    """PostgreSQL answers COMMIT of a failed transaction with ROLLBACK, and so do we, with a fact."""
    await owner.execute("create table kept (id integer primary key)")

    async def swallow() -> None:
        async with owner.transaction() as connection:
            await connection.execute("insert into kept values (1)")
            with suppress(asyncpg.UniqueViolationError):
                await connection.execute("insert into kept values (1)")

    with pytest.raises(TransactionRolledBack):
        await swallow()
    assert await owner.fetchval("select count(*) from kept") == 0


async def test_a_savepoint_inside_a_transaction_saves_the_rest(owner: Database) -> None:
    """The driver's own nested transactions work inside ours."""
    await owner.execute("create table kept (id integer primary key)")
    async with owner.transaction() as connection:
        await connection.execute("insert into kept values (1)")
        with suppress(asyncpg.UniqueViolationError):
            async with connection.transaction():
                await connection.execute("insert into kept values (1)")
    assert await owner.fetchval("select count(*) from kept") == 1


@pytest.mark.parametrize("error", [FileNotFoundError("my file"), TimeoutError("my upstream"), ValueError("my value")])
async def test_the_callers_own_errors_stay_their_own(owner: Database, error: Exception) -> None:
    """What goes wrong in the block but not in the database is not told as the database's failure."""
    async with _opened_pid(owner) as pid:
        with pytest.raises(type(error), match="my"):
            async with owner.transaction():
                raise error
    assert await owner.fetchval(_PID) == pid


async def test_a_wrong_argument_is_the_callers_mistake(database: Database) -> None:
    """An argument that does not fit is a programming error, not an unreachable database, and costs no connection."""
    pid = await database.fetchval(_PID)
    with pytest.raises(asyncpg.DataError):
        await database.fetchval("select $1::integer", "seven")
    assert await database.fetchval(_PID) == pid


async def test_a_cancelled_call_leaves_nothing_running(database: Database, owner: Database) -> None:
    """Cancelling a call ends its statement in the server too, stays a cancellation, and costs no connection."""
    pid = await database.fetchval(_PID)
    call = asyncio.create_task(database.execute("select pg_sleep(60)"))
    await until(partial(_sleeps, owner), "the call runs")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(partial(_sleeps_no_more, owner), "the statement ended")
    assert await database.fetchval(_PID) == pid


async def test_a_call_into_a_silent_network_can_be_cancelled(database_url: str, tcp_proxy: TcpProxy) -> None:
    """Cancelling does not wait long for a server that does not even answer the cancellation."""
    async with _opened(tcp_proxy.through(database_url), connect_timeout=timedelta(seconds=1)) as database:
        line = database.line()
        assert await line.fetchval("select 1") == 1
        tcp_proxy.black_hole()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await line.fetchval("select 1")
        tcp_proxy.heal()
        assert await line.fetchval("select 1") == 1


async def test_a_cancelled_transaction_gives_its_locks_back(owner: Database) -> None:
    """A task cancelled inside a transaction rolls it back."""
    await owner.execute("create table kept (id integer)")
    begun = asyncio.Event()

    async def hold() -> None:
        async with owner.transaction() as connection:
            await connection.execute("lock table kept in access exclusive mode")
            begun.set()
            await asyncio.Event().wait()

    holding = asyncio.create_task(hold())
    await begun.wait()
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding
    assert await owner.fetchval("select count(*) from kept") == 0


async def test_a_function_may_change_its_result_under_a_running_program(owner: Database) -> None:
    """A migrator that replaces a function does not break connections that have its old form prepared."""
    await owner.execute("create function answer() returns table (a integer) language sql as 'select 1'")
    assert [tuple(row) for row in await owner.fetch("select * from answer()")] == [(1,)]
    await owner.execute("drop function answer()")
    await owner.execute("create function answer() returns table (a text, b text) language sql as $$select 'x', 'y'$$")
    assert [tuple(row) for row in await owner.fetch("select * from answer()")] == [("x", "y")]


async def test_rights_and_missing_schemas_are_facts(database: Database) -> None:
    """What the service may not do, and what is not there, are told as such."""
    with pytest.raises(NotPermitted):
        await database.fetch("select * from livewell_private.migration")
    with pytest.raises(NotMigrated):
        await database.fetch("select livewell.no_such_function()")


@asynccontextmanager
async def _opened_pid(database: Database) -> AsyncIterator[int]:
    yield await database.fetchval(_PID)


async def _is_gone(owner: Database, pid: int) -> bool:
    return bool(await owner.fetchval("select count(*) from pg_stat_activity where pid = $1", pid) == 0)


_SLEEPING = "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"


async def _sleeps(owner: Database) -> bool:
    return bool(await owner.fetchval(_SLEEPING) == 1)


async def _sleeps_no_more(owner: Database) -> bool:
    return bool(await owner.fetchval(_SLEEPING) == 0)


async def _waits_for_lock(owner: Database, how_many: int) -> bool:
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    return bool(await owner.fetchval(waiting) == how_many)


async def _contended(logs: list[dict[str, Any]]) -> bool:
    return any(line["event"] == "call_contended" for line in logs)
