"""Cron expressions: against cronsim, against a minute-by-minute reading of the wall clock, and in words."""

from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim, CronSimError
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from livewell.kernel import Database
from livewell.schedule import InvalidCron

NEXT = "select livewell.next_cron_time($1, $2, $3)"
NEXT_OF_MANY = """
select livewell.next_cron_time(a.expression, a.zone, a.after) as moment
from unnest($1::text[], $2::text[], $3::timestamptz[]) with ordinality as a (expression, zone, after, n)
order by a.n
"""
# Whole hours and half hours, north and south, west of Greenwich, at midnight, and none at all.
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Kolkata", "America/Sao_Paulo", "UTC"]
ODD_ZONES = ["Australia/Lord_Howe", "Asia/Beirut", "America/Havana", "Africa/Casablanca", "Pacific/Apia"]
EXAMPLES = settings(
    max_examples=80,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def _number(low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).map(str)


def _range(low: int, high: int) -> st.SearchStrategy[str]:
    return st.tuples(st.integers(low, high - 1), st.integers(1, high - low)).map(
        lambda pair: f"{pair[0]}-{min(high, pair[0] + pair[1])}"
    )


def _field(low: int, high: int, names: list[str] | None = None) -> st.SearchStrategy[str]:
    stepped = st.tuples(st.one_of(st.just("*"), _range(low, high)), st.integers(1, high)).map(
        lambda pair: f"{pair[0]}/{pair[1]}"
    )
    plain = st.one_of(_number(low, high), _range(low, high), *([st.sampled_from(names)] if names else []))
    return st.one_of(st.just("*"), plain, stepped, st.lists(plain, min_size=2, max_size=3).map(",".join))


MONTHS = ["JAN", "feb", "Mar", "DEC"]
DAYS = ["SUN", "mon", "Fri"]

expressions = st.tuples(_field(0, 59), _field(0, 23), _field(1, 31), _field(1, 12, MONTHS), _field(0, 7, DAYS)).map(
    " ".join
)
frequent = st.tuples(_field(0, 59), _field(0, 23)).map(lambda pair: f"{pair[0]} {pair[1]} * * *")


@st.composite
def moments(draw: st.DrawFn, zones: list[str]) -> tuple[str, datetime]:
    """A zone and a moment, most often within two days of a change of its clocks."""
    zone = draw(st.sampled_from(zones))
    start = datetime(draw(st.integers(2005, 2024)), 1, 1, tzinfo=UTC)
    changes = _changes(zone, start.year)
    near_a_change = draw(st.booleans())
    if changes and near_a_change:
        start = draw(st.sampled_from(changes)) - timedelta(days=2)
        return zone, start + timedelta(seconds=draw(st.integers(0, 3 * 86_400)))
    return zone, start + timedelta(seconds=draw(st.integers(0, 365 * 86_400)))


@cache
def _changes(zone: str, year: int) -> list[datetime]:
    """The days of a year on which the clocks of a zone change."""
    here, day = ZoneInfo(zone), datetime(year, 1, 1, tzinfo=UTC)
    days = [day + timedelta(days=n) for n in range(365)]
    return [
        after
        for before, after in pairwise(days)
        if before.astimezone(here).utcoffset() != after.astimezone(here).utcoffset()
    ]


def _is_imaginary(moment: datetime) -> bool:
    return moment != moment.astimezone(UTC).astimezone(moment.tzinfo)


def _by_cronsim(expression: str, zone: str, after: datetime) -> datetime | None:
    """The first of cronsim's times that is real and after: its fixed times may lie in the hour shown twice."""
    try:
        for moment in CronSim(expression, after.astimezone(ZoneInfo(zone))):
            if not _is_imaginary(moment) and moment.astimezone(UTC) > after:
                return moment.astimezone(UTC)
    except CronSimError:
        assert " 31 " in expression or "30" in expression, "refused for another reason than a day that never comes"
    return None


asked = st.tuples(expressions, moments(ZONES))
asked_in_odd_zones = st.tuples(frequent, moments(ODD_ZONES))


@given(batch=st.lists(asked, min_size=15, max_size=15))
@EXAMPLES
async def test_cron_is_as_cronsim_says(database: Database, batch: list[tuple[str, tuple[str, datetime]]]) -> None:
    """Fields, names, lists, ranges, steps, days of month or week, and changes of the clocks: all as Debian's cron."""
    found = await database.fetch(NEXT_OF_MANY, *_columns(batch))
    for (expression, (zone, after)), row in zip(batch, found, strict=True):
        assert row["moment"] == _by_cronsim(expression, zone, after), (expression, zone, after)


@given(batch=st.lists(asked_in_odd_zones, min_size=15, max_size=15))
@EXAMPLES
async def test_real_time_is_followed_minute_by_minute(
    database: Database, batch: list[tuple[str, tuple[str, datetime]]]
) -> None:
    """With a star for minute or hour the next time is the first real minute whose wall clock fits, in any zone."""
    found = await database.fetch(NEXT_OF_MANY, *_columns(batch))
    for (expression, (zone, after)), row in zip(batch, found, strict=True):
        minute, hour, *_ = expression.split()
        if minute.startswith("*") or hour.startswith("*"):
            assert row["moment"] == _by_the_clock(minute, hour, zone, after), (expression, zone, after)


def _columns(batch: list[tuple[str, tuple[str, datetime]]]) -> tuple[list[str], list[str], list[datetime]]:
    return (
        [expression for expression, _ in batch],
        [zone for _, (zone, _) in batch],
        [after for _, (_, after) in batch],
    )


def _by_the_clock(minute: str, hour: str, zone: str, after: datetime) -> datetime:
    minutes, hours, here = _values(minute, 59), _values(hour, 23), ZoneInfo(zone)
    moment = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
    while not ((shown := moment.astimezone(here)).minute in minutes and shown.hour in hours):
        moment += timedelta(minutes=1)
    return moment


def _values(field: str, high: int) -> set[int]:
    """What a field names, read as plainly as can be."""
    found: set[int] = set()
    for term in field.split(","):
        span, _, step = term.partition("/")
        first, _, last = span.partition("-")
        low, top = (0, high) if span == "*" else (int(first), int(last or first))
        found |= set(range(low, top + 1, int(step or 1)))
    return found


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("30 2 * * *", "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
        ("0,30 2 * * *", "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:00Z"]),
        ("30 2 * * *", "2026-10-24T12:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
        ("*/30 2 * * *", "2026-10-24T12:00Z", [f"2026-10-25T0{h}:{m}Z" for h in (0, 1) for m in ("00", "30")]),
        ("@hourly", "2026-03-29T00:10Z", ["2026-03-29T01:00Z", "2026-03-29T02:00Z"]),
    ],
)
async def test_clocks_that_change(database: Database, expression: str, after: str, expected: list[str]) -> None:
    """In Berlin: a skipped time comes once right after the gap, one shown twice comes once, real time goes on."""
    moment = datetime.fromisoformat(after)
    for next_one in expected:
        moment = await database.fetchval(NEXT, expression, "Europe/Berlin", moment)
        assert moment == datetime.fromisoformat(next_one)


@pytest.mark.parametrize(
    ("expression", "field"),
    [
        ("60 * * * *", "minute 60"),
        ("* 24 * * *", "hour 24"),
        ("* * 0 * *", "day-of-month 0"),
        ("* * * 13 *", "month 13"),
        ("* * * * 8", "day-of-week 8"),
        ("*/0 * * * *", r"minute \*/0"),
        ("5/10 * * * *", "minute 5/10"),
        ("9-5 * * * *", "minute 9-5"),
        ("* * L * *", "day-of-month L"),
        ("* * * * mon#2", "day-of-week mon#2"),
        ("* * * foo *", "month foo"),
        ("1, * * * *", "minute 1,"),
        ("* * * *", "not a cron expression"),
        ("@reboot", "not a cron expression"),
        ("", "not a cron expression"),
    ],
)
async def test_a_wrong_expression_is_refused_by_its_field(database: Database, expression: str, field: str) -> None:
    """What is no cron expression is refused with a fact that names the field."""
    with pytest.raises(InvalidCron, match=field):
        await database.fetchval(NEXT, expression, "UTC", datetime(2026, 1, 1, tzinfo=UTC))


async def test_what_never_comes_is_null(database: Database) -> None:
    """30 February has no next time; 29 February has, also over a century without one."""
    assert await database.fetchval(NEXT, "0 0 30 2 *", "UTC", datetime(2026, 1, 1, tzinfo=UTC)) is None
    after = datetime(2096, 3, 1, tzinfo=UTC)
    assert await database.fetchval(NEXT, "0 0 29 2 *", "UTC", after) == datetime(2104, 2, 29, tzinfo=UTC)
