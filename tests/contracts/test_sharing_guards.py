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
    ("spending_of", "j.is_passenger is not true", "true", rules.test_a_bundle_costs_one_request),
    (
        "plan_requests",
        "where f.rank_in_lane % f.jobs_per_request = 0",
        "where f.rank_in_lane = 0",
        rules.test_a_bundle_costs_one_request,
    ),
    (
        "lanes_within_budget",
        "(-t.of_lane % l.jobs_per_request + l.jobs_per_request)::integer % l.jobs_per_request",
        "0",
        rules.test_a_request_is_filled_beyond_the_number_asked_for,
    ),
    ("plan_requests", "k.turn = b.turn", "k.turn > 0", rules.test_a_bundle_uses_one_key),
    (
        "plan_requests",
        "t.jobs / l.jobs_per_request",
        "-1",
        rules.test_a_request_is_filled_beyond_the_number_asked_for,
    ),
    ("plan_requests", "t.jobs % l.jobs_per_request > 0", "true", rules.test_a_full_request_takes_no_more),
    ("choose_jobs", "l.jobs_per_request > 1", "false", rules.test_a_bundle_uses_one_key),
    ("choose_jobs", "l.jobs_per_request > 1", "false", rules.test_a_request_is_filled_beyond_the_number_asked_for),
    (
        "choose_in_round",
        "livewell_private.take_serial_turns(v_locked, true)",
        "v_locked",
        rules.test_a_request_is_filled_beyond_the_number_asked_for,
    ),
    (
        "choose_in_round",
        "j.serial_key <> all (v_serial_keys)",
        "true",
        rules.test_nobody_is_a_passenger_of_its_own_serial_key,
    ),
    ("lanes_within_budget", "l.max_jobs - t.of_kind", "1000", rules.test_the_cap_of_a_kind_counts_jobs),
    ("choose_in_round", "q.bytes < 0", "false", rules.test_bytes_are_those_of_each_job),
    (
        "jobs_in_flight",
        "select count(distinct b.bundle)",
        "select 0 * count(*)",
        rules.test_a_bundle_is_one_call_at_once,
    ),
    ("jobs_in_flight", "count(*) - count(j.bundle)", "count(*)", rules.test_a_bundle_is_one_call_at_once),
    (
        "settle_calls",
        " and c.is_passenger is not true) as requests",
        ") as requests",
        rules.test_a_bundle_that_ends_apart_is_counted_once,
    ),
    (
        "settle_calls",
        "'rescued') and c.is_passenger is not true;",
        "'rescued');",
        rules.test_a_bundle_that_ends_apart_is_counted_once,
    ),
    ("rescue_jobs", "bundle = null, is_passenger = null, ", "", rules.test_a_bundle_that_ends_apart_is_counted_once),
    (
        "further_request",
        "perform livewell_private.debit_limits(v_limits, array[v_spending], v_now);",
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
