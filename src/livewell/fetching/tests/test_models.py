"""What a declared field takes, and nothing else."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from livewell.fetching import UnsoundFetch
from livewell.fetching.models import JsonSchemaReader, model_from
from livewell.fetching.paths import JsonPath, NotThere
from livewell.registry import FieldDeclaration


def taken(declared: dict[str, Any], value: Any) -> Any:
    """What a row with that value in its one field becomes."""
    model = model_from("x", {"x": FieldDeclaration.model_validate(declared)})
    return model.model_validate_json(json.dumps({"x": value})).model_dump()["x"]


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ({"type": "string"}, "a", "a"),
        ({"type": "number"}, 1, 1.0),
        ({"type": "number", "above": 0, "at_most": 5}, 5, 5.0),
        ({"type": "integer", "at_least": 2}, 2, 2),
        ({"type": "boolean"}, True, True),
        ({"type": "date"}, "2026-01-31", date(2026, 1, 31)),
        ({"type": "datetime"}, "2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        (
            {"type": "datetime", "zone": "America/New_York"},
            "2026-01-31 12:00:00",
            datetime(2026, 1, 31, 17, tzinfo=UTC),
        ),
        ({"type": "epoch"}, 1769860800, datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ({"type": "epoch_ms"}, 1769860800000, datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ({"type": "json"}, {"a": [1, None]}, {"a": [1, None]}),
        ({"type": "string", "one_of": ["a", "b"]}, "b", "b"),
        ({"type": "string", "optional": True}, None, None),
        ({"type": "epoch", "optional": True}, None, None),
    ],
)
def test_a_field_takes_its_type(declared: dict[str, Any], value: Any, expected: Any) -> None:
    """As it is, or as the time it stands for."""
    assert taken(declared, value) == expected


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ({"type": "string"}, 1),
        ({"type": "string"}, None),
        ({"type": "string", "min_length": 2}, "a"),
        ({"type": "string", "max_length": 1}, "ab"),
        ({"type": "string", "pattern": "^[A-Z]+$"}, "a"),
        ({"type": "number"}, "1"),
        ({"type": "number"}, True),
        ({"type": "number", "above": 0}, 0),
        ({"type": "number", "below": 1}, 1),
        ({"type": "integer"}, 1.0),
        ({"type": "integer"}, 1.5),
        ({"type": "integer"}, True),
        ({"type": "boolean"}, 1),
        ({"type": "boolean"}, "true"),
        ({"type": "date"}, "2026-01-31T00:00:00Z"),
        ({"type": "date"}, "2026-02-30"),
        ({"type": "date"}, 20260131),
        ({"type": "datetime"}, "2026-01-31"),
        ({"type": "datetime"}, "2026-01-31T12:00:00"),
        ({"type": "datetime"}, 1769860800),
        ({"type": "datetime"}, "0001-01-01T00:00:00+14:00"),
        ({"type": "epoch"}, "1769860800"),
        ({"type": "epoch"}, True),
        ({"type": "epoch"}, 1769860800000),
        ({"type": "string", "one_of": ["a"]}, "c"),
        ({"type": "integer", "one_of": [1]}, True),
    ],
)
def test_a_field_takes_nothing_else(declared: dict[str, Any], value: Any) -> None:
    """Nothing is converted: text is no number, a whole float no integer, one no truth, a day no moment."""
    with pytest.raises(ValidationError):
        taken(declared, value)


def test_a_field_must_be_there() -> None:
    """One that may be null must be sent as null, unless it may be missing: a renamed field is never a NULL."""
    optional = model_from("x", {"x": FieldDeclaration(type="string", optional=True)})
    with pytest.raises(ValidationError):
        optional.model_validate_json("{}")
    missing = model_from("x", {"x": FieldDeclaration(type="string", missing=True)})
    assert missing.model_validate_json("{}").model_dump() == {"x": None}


def test_a_field_may_have_another_name_at_the_source() -> None:
    """`from` is what the provider calls it; our own name is none of the provider's."""
    model = model_from("x", {"market_cap": FieldDeclaration.model_validate({"type": "number", "from": "mktCap"})})
    assert model.model_validate_json('{"mktCap": 1}').model_dump() == {"market_cap": 1}
    with pytest.raises(ValidationError):
        model.model_validate_json('{"market_cap": 1}')


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "string", "above": 1},
        {"type": "number", "pattern": "x"},
        {"type": "string", "pattern": "("},
        {"type": "string", "source_time": True},
        {"type": "epoch", "rule": "newer"},
        {"type": "epoch", "source_time": True, "optional": True},
        {"type": "epoch", "zone": "UTC"},
        {"type": "number", "above": float("nan")},
    ],
)
def test_a_field_says_what_its_type_can(declared: dict[str, Any]) -> None:
    """What makes no sense is refused when it is declared."""
    with pytest.raises(ValidationError):
        FieldDeclaration.model_validate(declared)


def test_a_json_schema_is_fields(tmp_path: Path) -> None:
    """An object with properties, their types and bounds; what fields cannot say is refused, not ignored."""
    schema = {
        "type": "object",
        "required": ["symbol", "price"],
        "properties": {
            "symbol": {"type": "string", "pattern": "^[A-Z]+$"},
            "price": {"type": ["number", "null"], "exclusiveMinimum": 0},
            "at": {"type": "string", "format": "date-time"},
        },
    }
    model = model_from("x", JsonSchemaReader().fields(schema))
    assert model.model_validate_json('{"symbol": "A", "price": null}').model_dump()["at"] is None
    for wrong in ('{"symbol": "a", "price": 1}', '{"symbol": "A"}', '{"symbol": "A", "price": 0}'):
        with pytest.raises(ValidationError):
            model.model_validate_json(wrong)
    for odd in ({"type": "array"}, {"type": "object", "properties": {"x": {"type": "string", "not": {}}}}):
        with pytest.raises(UnsoundFetch):
            JsonSchemaReader().fields(odd)


def test_a_path_leads_to_rows() -> None:
    """Members, positions and all of a list; a step with nothing to stand on is told."""
    document = {"data": {"items": [{"a": 1}, {"a": 2}]}, "one": [[5], [6]]}
    assert JsonPath("$.data.items[*]").find(document) == [{"a": 1}, {"a": 2}]
    assert JsonPath("$.data.items[*].a").find(document) == [1, 2]
    assert JsonPath("$.one[1][0]").find(document) == [6]
    assert JsonPath("$").find(document) == [document]
    for nowhere in ("$.nothing", "$[*]", "$.one[2]", "$.data[0]"):
        with pytest.raises(NotThere):
            JsonPath(nowhere).find(document)
    assert JsonPath("data.items[*]").find(document) == [{"a": 1}, {"a": 2}]
    for no_path in ("", "$x", "$.", "$[-1]", "$..a"):
        with pytest.raises(ValueError, match="a path has members, positions and"):
            JsonPath(no_path)
