"""Answers made from the model and mutated at random: no crash, none believed wrongly, an outcome for every key."""

import json
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from livewell.fetching import Fetched, Refused
from livewell.fetching.client import Reply
from livewell.fetching.judge import Rules, judge_rows, read_document, share_out
from livewell.fetching.models import model_from
from livewell.fetching.paths import JsonPath, NotThere
from livewell.fetching.rows import RowReader
from livewell.fetching.tests.stage import FIELDS, NOW
from livewell.registry import FieldDeclaration

MODEL = model_from(
    "quote",
    {
        name: FieldDeclaration.model_validate(one)
        for name, one in {**FIELDS, "name": {"type": "string", "optional": True}, "size": {"type": "integer"}}.items()
    },
)
RULES = Rules(reader=RowReader(MODEL, key="symbol"))
KEYS = ["A", "B", "C"]

good_rows = st.fixed_dictionaries(
    {
        "symbol": st.sampled_from(KEYS),
        "price": st.floats(0.01, 999_999),
        "timestamp": st.integers(0, int(NOW.timestamp())),
        "name": st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
        "size": st.integers(-(2**63), 2**63 - 1),
    }
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(KEYS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(["symbol", "price", "timestamp", "name", "size", "Price", "extra"])


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A row with something done to it, or something else in its place."""
    row = dict(draw(good_rows))
    for _ in range(draw(st.integers(0, 2))):
        match draw(st.sampled_from(["set", "drop", "rename", "replace"])):
            case "set":
                row[draw(names)] = draw(values)
            case "drop":
                row.pop(draw(names), None)
            case "rename" if row:
                row[draw(names)] = row.pop(draw(st.sampled_from(sorted(row))))
            case "replace":
                return draw(values)
    return row


def holds(row: Any) -> bool:
    """The rules of the type, written out a second time."""
    return (
        isinstance(row, dict)
        and set(row) == {"symbol", "price", "timestamp", "name", "size"}
        and isinstance(row["symbol"], str)
        and type(row["price"]) in {int, float}
        and 0 < row["price"] < 1_000_000
        and type(row["timestamp"]) in {int, float}
        and math.isfinite(row["timestamp"])
        and row["timestamp"] <= NOW.timestamp() + 86_400
        and (row["name"] is None or (isinstance(row["name"], str) and "\0" not in row["name"]))
        and type(row["size"]) is int
    )


@settings(deadline=None, max_examples=300)
@given(st.lists(mutated(), max_size=5))
def test_a_mutated_answer_is_never_believed_wrongly(rows: list[Any]) -> None:
    """A key is fetched exactly when all its rows hold and it has one; every key asked for has an outcome."""
    reply = Reply(status=200, body=json.dumps(rows).encode())
    document = read_document(reply, max_bytes=1_000_000)
    if isinstance(document, Refused):
        return
    verdict = judge_rows(KEYS, JsonPath("$[*]").find(document), RULES, now=NOW)
    assert list(verdict.outcomes) == KEYS
    for key, outcome in verdict.outcomes.items():
        own = [row for row in document if isinstance(row, dict) and row.get("symbol") == key]
        if isinstance(outcome, Fetched):
            assert len(own) == 1
            assert holds(own[0])
            assert outcome.rows[0]["price"] == own[0]["price"]
        elif len(own) == 1 and holds(own[0]):
            assert own[0]["timestamp"] < 0, outcome


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode), st.sampled_from(["$[*]", "$.a[0].b", "$"]))
def test_bytes_of_any_kind_are_judged(body: bytes, path: str) -> None:
    """Whatever a server sends, there is an outcome and no exception."""
    document = read_document(Reply(status=200, body=body), max_bytes=1_000_000)
    if isinstance(document, Refused):
        return
    try:
        rows = JsonPath(path).find(document)
    except NotThere:
        return
    verdict = judge_rows(KEYS, rows, RULES, now=NOW)
    assert not any(isinstance(outcome, Fetched) for outcome in verdict.outcomes.values())


@given(st.integers(0, 10**12), st.lists(st.integers(0, 1000), min_size=1, max_size=50))
def test_shares_are_fair_and_whole(total: int, weights: list[int]) -> None:
    """They sum to the total, and none is further than one from its due."""
    shares = share_out(total, weights)
    assert sum(shares) == total
    if any(weights):
        whole = sum(weights)
        assert all(abs(share - total * weight / whole) <= 1 for share, weight in zip(shares, weights, strict=True))
