"""F24, F27: strangers with a login, who hold every lock they may take, or let the notification queue fill up."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from livewell.kernel import LockNotAvailable, list_warnings, migrate
from livewell.registry import RegistryStore
from livewell.testing import OwnServer, until
from tests.contracts.guards import session, take_away
from tests.faults.load import BeginRun, Run
from tests.faults.refresh_stage import Stage, staged
from tests.faults.strangers import hold_what_was_ours, listen_and_idle, lock_what_it_may, shown_keys, stranger

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

PAGES = 64
SERIAL_KEYS = ["a", "b", "c"]
_FULL = "too many notifications"
_OFTEN = "update livewell_private.task set every = '500 ms', due_at = now() where name = 'notification_queue'"


async def test_f24_a_stranger_holds_every_lock_it_may_take(run: Run, owner_url: str) -> None:
    """F24: with every advisory key held that was ever ours, all keys stay fresh, and what is declared is made."""
    async with (
        staged(run) as stage,
        stranger(owner_url, "livewell_user") as user,
        stranger(owner_url, "livewell_anon") as anon,
    ):
        await hold_what_was_ours(user, SERIAL_KEYS)
        held = await shown_keys(anon)
        # Who may read a view may keep what it reads from being dropped, as any reader does, and nothing else.
        assert await lock_what_it_may(user) | await lock_what_it_may(anon) == {"access share"}
        await run.start_workers(1, program="refresher")
        await _goes_on(stage)
        assert await shown_keys(anon) == held, "ours were shown too, for others to take"
        await _declares(run, owner_url)
        run.figures["keys held"] = len(held)


async def _goes_on(stage: Stage) -> None:
    """Everything is fetched, and again when it is due; jobs with serial keys are done."""
    await stage.all_fetched()
    await stage.time_passes()
    await stage.all_fetched(again=1)
    assert await stage.stored() == stage.at_the_provider()


async def _declares(run: Run, owner_url: str) -> None:
    await run.owner.execute(
        """select livewell.declare_tasks('{"mine": {"every": "1 hour", "late_after": "1 day"}}', 'harness')"""
    )
    await run.owner.fetch(
        """select * from livewell.apply_providers('{"providers": {"another": {}}}', false, 'harness')"""
    )
    await RegistryStore(run.owner).apply_types(
        {"profile": {"ttl": timedelta(hours=3)}}, plan_only=False, actor="harness"
    )
    await migrate(owner_url)
    await run.owner.execute(
        """select livewell.declare_kinds('[{"kind": "by_key", "queue_group": "by_key"}]', 'harness')"""
    )
    jobs = [{"kind": "by_key", "payload": {"n": 1}, "serial_key": key} for key in SERIAL_KEYS]
    await run.owner.fetch("select * from livewell.enqueue_jobs($1::text::jsonb)", json.dumps(jobs))
    claimed = await run.owner.fetch("select serial_key from livewell.claim_jobs('harness', '{by_key}', 10)")
    assert sorted(row[0] for row in claimed) == SERIAL_KEYS


@pytest.mark.full
async def test_f24_needs_rows_for_locks(run: Run, owner_url: str) -> None:
    """With a key in place of the row, the one who holds the key stops what is declared."""
    await take_away(
        run.owner,
        "declare_tasks",
        "livewell_private.take_lock('tasks')",
        "pg_advisory_xact_lock(hashtextextended('livewell.declare_tasks', 0))",
    )
    async with stranger(owner_url, "livewell_anon") as anon:
        await hold_what_was_ours(anon, SERIAL_KEYS)
        async with session(owner_url) as ours:
            with pytest.raises(LockNotAvailable):
                await ours.execute("select livewell.declare_tasks('{}', 'harness')")


@pytest_asyncio.fixture
async def small_server(own_folder: Path) -> AsyncIterator[OwnServer]:
    """A server of the test's own whose notification queue is full soon."""
    server = await OwnServer.begin(own_folder, {"max_notify_queue_pages": str(PAGES), "fsync": "off"})
    yield server
    await server.embedded.stop(mode="immediate")


async def test_f27_a_full_notification_queue_fails_nothing(small_server: OwnServer, begin_run: BeginRun) -> None:
    """F27: while a stranger keeps the queue full, keys stay fresh by polling, no commit fails; it heals by itself."""
    async with begin_run(owner_url=small_server.owner_url, url=small_server.database_url) as run, staged(run) as stage:
        await run.owner.execute(_OFTEN)
        await run.start_workers(1, program="refresher")
        await stage.all_fetched()
        async with stranger(small_server.owner_url) as holder, stranger(small_server.owner_url) as filler:
            await listen_and_idle(holder)
            await _fill(filler, PAGES // 3)
            await until(lambda: _is_quiet(run), "nothing is notified any more")
            with pytest.raises(asyncpg.PostgresError, match=_FULL):
                await _fill(filler, PAGES)
            told = len(stage.heard)
            await stage.time_passes()
            await stage.all_fetched(again=1)
            await run.owner.execute("select livewell.set_setting('worker.claim_batch', '40', 'harness')")
            assert len(stage.heard) == told
            await until(lambda: _names(run, "stranger_nobody"), "who holds it is named")
        await until(lambda: _is_loud(run), "notices are sent again")
        await stage.time_passes()
        await stage.all_fetched(again=2)
        await until(lambda: _is_told(stage, told), "changes are told again")
        assert await stage.stored() == stage.at_the_provider()
        assert run.events("call_failed") == []
        await run.passes()


async def _fill(session: "asyncpg.Connection[asyncpg.Record]", pages: int) -> None:
    for number in range(pages):
        await session.execute("select pg_notify('full', rpad($1, 7900, '.'))", str(number))


async def _is_quiet(run: Run) -> bool:
    return bool(await run.owner.fetchval("select quiet from livewell_private.notification_state"))


async def _is_loud(run: Run) -> bool:
    return not await _is_quiet(run)


async def _names(run: Run, login: str) -> bool:
    found = await list_warnings(run.owner, code="kernel.notifications_pile_up")
    return any(f"of {login} on " in warning.message for warning in found)


async def _is_told(stage: Stage, before: int) -> bool:
    return len(stage.heard) > before
