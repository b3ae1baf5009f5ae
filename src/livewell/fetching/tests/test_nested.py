"""Fields inside objects and lists of a row, read as strictly as its outermost ones."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.fetching import Fetched, Refused
from livewell.fetching.judge import Rules, judge_rows
from livewell.fetching.models import model_from
from livewell.fetching.rows import RowReader
from livewell.registry import FieldDeclaration

NOW = datetime(2026, 11, 17, tzinfo=UTC)
MATCH = {
    "id": {"type": "string", "from": "match.id"},
    "home": {"type": "string", "from": "teams.home"},
    "away": {"type": "string", "from": "$.teams.away"},
    "price": {"type": "number", "from": "odds[0].price", "above": 1},
    "at": {"type": "epoch", "from": '["as of"].seconds', "source_time": True},
}
ROW: dict[str, Any] = {
    "match": {"id": "M1"},
    "teams": {"home": "Ajax", "away": "Feyenoord"},
    "odds": [{"price": 2}],
    "as of": {"seconds": 1_763_000_000},
}


def reader(*, extra: str = "refuse", **more: dict[str, Any]) -> RowReader:
    fields = {column: FieldDeclaration.model_validate(field) for column, field in {**MATCH, **more}.items()}
    return RowReader(model_from("match", fields, extra=extra), key="id")


def refusal(row: dict[str, Any], **options: Any) -> str:
    found = reader(**options).read(row)
    assert isinstance(found, Refused)
    return f"{found.reason}: {found.message}"


def test_nested_values_are_fields_like_others() -> None:
    """Each is a column of its own, with its bounds, its time and the key it belongs to."""
    verdict = judge_rows(["M1"], [ROW], Rules(reader=reader()), now=NOW)
    outcome = verdict.outcomes["M1"]
    assert isinstance(outcome, Fetched)
    at = datetime.fromtimestamp(1_763_000_000, UTC)
    assert outcome.rows == [{"id": "M1", "home": "Ajax", "away": "Feyenoord", "price": 2.0, "at": at}]
    assert outcome.source_time == at


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"teams": {"home": "Ajax"}}, "schema: teams.away: Field required"),
        ({"teams": {"home": "Ajax", "away": "B", "venue": "C"}}, "schema: teams.venue: Extra inputs are not permitted"),
        ({"odds": [{"price": 2}, {"price": 3}]}, "schema: odds[1]: Extra inputs are not permitted"),
        ({"odds": [{"price": 2, "book": "x"}]}, "schema: odds[0].book: Extra inputs are not permitted"),
        ({"more": 1}, "schema: more: Extra inputs are not permitted"),
        ({"teams": "Ajax"}, "schema: row: teams should be an object, not text"),
        ({"teams": [1]}, "schema: row: teams should be an object, not a list"),
        ({"odds": {"0": {"price": 2}}}, "schema: row: odds should be a list, not an object"),
        ({"odds": [7]}, "schema: row: odds[0] should be an object, not a number"),
        ({"odds": []}, "schema: odds[0].price: Field required"),
        ({"odds": None}, "schema: odds[0].price: Input should be a valid number"),
        ({"odds": [{"price": 1}]}, "bounds: odds[0].price: Input should be greater than 1"),
        ({"as of": {}}, 'missing_source_time: ["as of"].seconds: Field required'),
    ],
)
def test_what_is_nested_is_read_strictly(changed: dict[str, Any], told: str) -> None:
    """Missing, unknown, retyped or out of bounds at any depth: refused, and the reason has the path."""
    assert refusal({**ROW, **changed}) == told


def test_what_is_beside_a_field_may_be_ignored() -> None:
    """`extra = "ignore"` holds at every depth; a value on the way that is no object is refused all the same."""
    row = {**ROW, "teams": {**ROW["teams"], "venue": "C"}, "odds": [{"price": 2, "book": "x"}, 7], "more": 1}
    assert not isinstance(reader(extra="ignore").read(row), Refused)
    assert "teams should be an object" in refusal({**row, "teams": 5}, extra="ignore")


def test_nothing_on_the_way_is_nothing_at_its_end() -> None:
    """A null above a field is its null, an object that is left out leaves it out: only where the field allows it."""
    venue = {"type": "string", "from": "place.venue"}
    assert "place.venue: Field required" in refusal(ROW, venue=venue)
    assert not isinstance(reader(venue={**venue, "missing": True}).read(ROW), Refused)
    optional = reader(venue={**venue, "optional": True})
    assert not isinstance(optional.read({**ROW, "place": None}), Refused)
    assert isinstance(optional.read(ROW), Refused)


@pytest.mark.parametrize("row", [{}, {"match": "M1"}, {"match": {"id": ["M1"]}}, {"match": {"id": True}}])
def test_a_row_whose_key_is_not_where_it_should_be_is_nobodys(row: dict[str, Any]) -> None:
    """The answer is refused, and says where the key was looked for."""
    outcome = judge_rows(["M1"], [row], Rules(reader=reader()), now=NOW).outcomes["M1"]
    assert outcome == Refused(reason="schema", message="a row without match.id: whose is it?")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "home", "price", "seconds", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["match", "teams", "odds", "as of", "x"]), JSON, max_size=5))
def test_any_row_is_read_or_refused(row: dict[str, Any]) -> None:
    """Whatever is nested in whatever: an outcome, and what is taken is the declared row and nothing else."""
    found = reader().read(row)
    if not isinstance(found, Refused):
        assert set(found) == set(MATCH)
        assert set(row) == set(ROW)


def test_an_answer_as_large_as_it_likes_costs_its_declared_part() -> None:
    """A hundred thousand positions that nobody declared are refused by the first of them."""
    assert refusal({**ROW, "odds": [{"price": 2}] * 100_000}) == "schema: odds[1]: Extra inputs are not permitted"
