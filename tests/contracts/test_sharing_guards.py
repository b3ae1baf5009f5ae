"""The guards of requests that are shared, and of those beyond the first: each rule's test fails without its guard."""

from collections.abc import Awaitable, Callable

import asyncpg
import pytest
import pytest_asyncio

from livewell.budgets.tests import test_sql_sharing as rules
from livewell.budgets.tests.surface import Budgets
from livewell.kernel import Database
from tests.contracts.guards import take_away

Rule = Callable[[Budgets], Awaitable[None]]


@pytest_asyncio.fixture
async def budgets(owner: Database) -> Budgets:
    """The budgets, as their owner, with the kind `call` declared."""
    surface = Budgets(owner, owner)
    await surface.declare("call")
    return surface


GUARDS: list[tuple[str, str, str, Rule]] = [
    ("requests_for", "/ l.per_request::numeric", "/ 1000::numeric", rules.test_a_bundle_costs_one_request),
    ("bundle_jobs", "p.rank % p.per_request = 0", "p.rank = 0", rules.test_a_bundle_costs_one_request),
    (
        "open_seats",
        "l.per_request - count(*) % l.per_request",
        "l.per_request",
        rules.test_a_request_is_filled_beyond_the_number_asked_for,
    ),
    ("choose_affordable_jobs", "v_seats[v_seat] - 1", "v_seats[v_seat]", rules.test_a_bundle_uses_one_key),
    ("choose_affordable_jobs", "case when v_seat is null then 1 else 0 end", "1", rules.test_a_bundle_uses_one_key),
    (
        "lock_affordable_jobs",
        "livewell_private.fill_requests(v_chosen, v_lanes)",
        "v_chosen",
        rules.test_a_bundle_uses_one_key,
    ),
    (
        "lock_affordable_jobs",
        "livewell_private.fill_requests(v_chosen, v_lanes)",
        "v_chosen",
        rules.test_a_request_is_filled_beyond_the_number_asked_for,
    ),
    (
        "lock_riders",
        "livewell_private.take_serial_turns(v_found, true)",
        "v_found",
        rules.test_a_request_is_filled_beyond_the_number_asked_for,
    ),
    ("lock_riders", "least(s.seats, l.room - (", "least(s.seats, 1000 - (", rules.test_the_cap_of_a_kind_counts_jobs),
    ("fill_requests", "if v_rooms.names is null then", "if false then", rules.test_bytes_are_those_of_each_job),
    ("flights", "select count(distinct b.bundle)", "select 0 * count(*)", rules.test_a_bundle_is_one_call_at_once),
    ("flights", "count(*) - count(j.bundle)", "count(*)", rules.test_a_bundle_is_one_call_at_once),
    (
        "settle_calls",
        " and c.rides is not true) as requests",
        ") as requests",
        rules.test_a_bundle_that_ends_apart_is_counted_once,
    ),
    (
        "settle_calls",
        "'rescued') and c.rides is not true;",
        "'rescued');",
        rules.test_a_bundle_that_ends_apart_is_counted_once,
    ),
    ("rescue_jobs", "bundle = null, rides = null, ", "", rules.test_a_bundle_that_ends_apart_is_counted_once),
    (
        "further_request",
        "perform livewell_private.debit_limits(v_rooms, v_now);",
        "",
        rules.test_another_request_pays_for_itself,
    ),
    (
        "further_request",
        "if retry_seconds <= p_patience_seconds then",
        "if false then",
        rules.test_who_waits_for_another_request_goes_before_new_jobs,
    ),
]


@pytest.mark.parametrize(("function", "guard", "instead", "rule"), GUARDS)
async def test_each_guard_is_needed(budgets: Budgets, function: str, guard: str, instead: str, rule: Rule) -> None:
    """Without the guard the rule is broken, and its test or a constraint says so."""
    await take_away(budgets.owner, function, guard, instead)
    with pytest.raises((AssertionError, asyncpg.UniqueViolationError)):
        await rule(budgets)
