"""Real calendars: half days, holidays, breaks and daylight-saving changes of real exchanges, as the gate sees them."""

import importlib.util
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pydantic_core import from_json

from livewell.kernel import Database
from livewell.registry import CalendarKeeper, CalendarUnavailable, RegistryStore, sessions_of
from livewell.registry.tests.surface import Registry
from livewell.testing import lack, make_type

BEGIN, END = datetime(2026, 3, 1, tzinfo=UTC), datetime(2027, 3, 1, tzinfo=UTC)
KEYS = {"XNYS": "AAPL", "XLON": "VOD.L", "XTKS": "7203.T", "XHKG": "0700.HK", "XASX": "BHP.AX"}

# What was published by the exchanges, in UTC: the first moment open and the first moment closed of each session.
DAYS = {
    ("XNYS", "2026-11-25"): ["14:30-21:00"],
    ("XNYS", "2026-11-26"): [],  # Thanksgiving
    ("XNYS", "2026-11-27"): ["14:30-18:00"],  # a half day: closes at 13:00
    ("XNYS", "2026-12-24"): ["14:30-18:00"],  # a half day: closes at 13:00
    ("XNYS", "2026-12-25"): [],
    ("XNYS", "2026-07-03"): [],  # the 4th is a Saturday
    ("XNYS", "2026-11-28"): [],  # a Saturday
    ("XNYS", "2026-03-06"): ["14:30-21:00"],
    ("XNYS", "2026-03-09"): ["13:30-20:00"],  # clocks went forward on Sunday the 8th
    ("XNYS", "2026-10-30"): ["13:30-20:00"],
    ("XNYS", "2026-11-02"): ["14:30-21:00"],  # clocks went back on Sunday the 1st
    ("XLON", "2026-03-27"): ["08:00-16:30"],
    ("XLON", "2026-03-30"): ["07:00-15:30"],
    ("XLON", "2026-10-23"): ["07:00-15:30"],
    ("XLON", "2026-10-26"): ["08:00-16:30"],
    ("XLON", "2026-12-24"): ["08:00-12:30"],
    ("XTKS", "2026-11-16"): ["00:00-02:30", "03:30-06:30"],  # a break for lunch
    ("XHKG", "2026-11-16"): ["01:30-04:00", "05:00-08:00"],
    ("XHKG", "2026-12-24"): ["01:30-04:00"],  # a half day: the morning only
}


@pytest.fixture
def calendars() -> None:
    if importlib.util.find_spec("exchange_calendars") is None:
        lack("exchange-calendars is not installed (the extra market)")


@pytest.fixture
def without_calendars() -> Iterator[None]:
    """As on a machine where the extra is not installed."""
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("exchange_calendars")}
    sys.modules["exchange_calendars"] = None  # type: ignore[assignment]
    yield
    del sys.modules["exchange_calendars"]
    sys.modules.update(hidden)


def _moments(day: str, session: str) -> tuple[datetime, datetime]:
    begin, end = (datetime.fromisoformat(f"{day}T{moment}Z") for moment in session.split("-"))
    return begin, end


async def test_the_gate_follows_the_exchanges(calendars: None, registry: Registry, owner: Database) -> None:
    """On half days, holidays, days with a break and around both changes of clocks the gate is on time."""
    await make_type(owner, "quote", gate="market_hours")
    store = RegistryStore(owner)
    for exchange in KEYS:
        await store.put_calendar(exchange, BEGIN, END, sessions_of(exchange, BEGIN, END))
    for (exchange, day), sessions in DAYS.items():
        rows = await owner.fetch(
            "select opens_at, closes_at from livewell_private.market_session"
            " where exchange = $1 and opens_at >= $2 and opens_at < $2 + interval '1 day' order by opens_at",
            exchange,
            datetime.fromisoformat(f"{day}T00:00Z"),
        )
        assert [tuple(row) for row in rows] == [_moments(day, session) for session in sessions], (exchange, day)
        for opens_at, closes_at in (_moments(day, session) for session in sessions):
            assert (await registry.gates("quote", KEYS[exchange], now=opens_at))[KEYS[exchange]] == (True, None)
            closed, _ = (await registry.gates("quote", KEYS[exchange], now=closes_at))[KEYS[exchange]]
            assert closed is False, (exchange, day)
    now = datetime(2026, 11, 25, 22, tzinfo=UTC)
    assert await registry.gates("quote", "AAPL", now=now) == {
        "AAPL": (False, datetime(2026, 11, 27, 14, 30, tzinfo=UTC))
    }
    assert await registry.warnings() == []


def test_a_session_that_opens_the_day_before_is_not_lost(calendars: None) -> None:
    """Sydney opens at 23:00 UTC of the day before: no session is missing at the end of what is written."""
    end = datetime(2026, 11, 17, tzinfo=UTC)
    last = sessions_of("XASX", datetime(2026, 11, 2, tzinfo=UTC), end)[-1]
    assert last.opens_at == datetime(2026, 11, 16, 23, tzinfo=UTC)


async def test_the_keeper_writes_a_year_ahead_for_what_is_in_use(
    calendars: None, owner: Database, database: Database, registry: Registry
) -> None:
    """Without a type that asks for market hours nothing is written; then the exchanges of rules and catalogue are."""
    keeper = CalendarKeeper(RegistryStore(database))
    assert await keeper.run_once() == {"sessions_changed": 0, "missing": []}
    await owner.execute("delete from livewell_private.exchange_rule where suffix not in ('', '.L')")
    await make_type(owner, "quote", gate="market_hours")
    await registry.import_keys("quote", ["7203", "X"], ["XTKS", "NOWHERE"])
    answer = await keeper.run_once()
    assert answer["sessions_changed"] > 700
    assert answer["missing"] == ["NOWHERE"]
    rows = await owner.fetch(
        "select code, known_until - now() > interval '365 days' from livewell_private.exchange order by code"
    )
    assert [tuple(row) for row in rows] == [("XLON", True), ("XNYS", True), ("XTKS", True)]
    assert await registry.warnings() == [("registry.calendar_missing", "NOWHERE")]
    assert await keeper.run_once() == {"sessions_changed": 0, "missing": ["NOWHERE"]}


async def test_without_the_extra_the_keeper_warns(
    without_calendars: None, owner: Database, database: Database, registry: Registry
) -> None:
    """Where exchange-calendars is not installed the task warns with its fix, does not fail, and the gate is open."""
    await owner.execute("delete from livewell_private.exchange_rule where suffix <> ''")
    await make_type(owner, "quote", gate="market_hours")
    answer = await CalendarKeeper(RegistryStore(database)).run_once()
    assert answer == {"sessions_changed": 0, "missing": ["XNYS"]}
    message = await owner.fetchval("select message from livewell.warnings where code = 'registry.calendar_missing'")
    assert "pip install 'livewell[market]'" in message
    assert await registry.gates("quote", "AAPL") == {"AAPL": (True, None)}


async def test_where_no_program_runs_the_task_its_function_warns(owner: Database, registry: Registry) -> None:
    """Run by pg_cron the task names exchanges in use that are not known for the month to come, and is quiet else."""
    await owner.execute("delete from livewell_private.exchange_rule where suffix not in ('', '.L')")
    run = "select livewell_private.task_market_calendar($1)::text"
    assert from_json(await owner.fetchval(run, BEGIN)) == {"missing": [], "again_in": None}
    await make_type(owner, "quote", gate="market_hours")
    await RegistryStore(owner).put_calendar("XNYS", BEGIN, END, [])
    assert from_json(await owner.fetchval(run, BEGIN)) == {"missing": ["XLON"], "again_in": "1 hour"}
    assert await registry.warnings() == [("registry.calendar_missing", "XLON")]


def test_an_exchange_nobody_knows_is_told(calendars: None) -> None:
    """A code that the calendars do not know is a fact, not a traceback."""
    with pytest.raises(CalendarUnavailable, match="XXXX"):
        sessions_of("XXXX", BEGIN, END)
