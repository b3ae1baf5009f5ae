"""Paths into an answer: what they are, and what of JSONPath they are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.registry import TypeDeclaration, path_text, row_steps, value_steps

MEMBERS = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), min_size=1, max_size=12)
POSITIONS = st.integers(0, 999_999)
PATHS = st.tuples(MEMBERS, st.lists(MEMBERS | POSITIONS, max_size=5)).map(lambda path: [path[0], *path[1]])


@given(PATHS)
def test_every_path_can_be_written_and_read(steps: list[str | int]) -> None:
    """Whatever its members are called: what is written is read back as the same steps, with and without the $."""
    text = path_text(steps)
    assert value_steps(text) == row_steps(text) == steps
    assert value_steps(f"${text}" if text.startswith("[") else f"$.{text}") == steps


@given(st.text(max_size=30) | st.text("$.[]*'\"\\ab01:,?-", max_size=12))
def test_a_text_is_a_path_or_refused(text: str) -> None:
    """Nothing but a ValueError comes of any text, and what is taken for a path is one that can be written."""
    try:
        steps = value_steps(text)
    except ValueError:
        return
    assert value_steps(path_text(steps)) == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("price", ["price"]),
        ("teams.home", ["teams", "home"]),
        ("$.teams.home", ["teams", "home"]),
        ("$.odds[0].price", ["odds", 0, "price"]),
        ('$["05. price"]', ["05. price"]),
        ("['it\\'s'].x", ["it's", "x"]),
        ("52WeekHigh", ["52WeekHigh"]),
        ("größe.wert-1", ["größe", "wert-1"]),
    ],
)
def test_a_path_has_members_and_positions(text: str, steps: list[str | int]) -> None:
    """With or without the $ in front; a member that is no plain word is quoted."""
    assert value_steps(text) == steps


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$..home", "recursive descent"),
        ("odds[*].price", "wildcards"),
        ("teams.*", "wildcards"),
        ("odds[?(@.price > 1)]", "filters"),
        ("odds[1:2]", "slices"),
        ("odds[:]", "slices"),
        ("odds[-1]", "positions from the end"),
        ("odds[0,1]", "several members or positions"),
        ("odds[9999999]", "positions above 999999"),
        ("05. price", "should be a path"),
        ("$", "should begin with a member"),
        ("[0].price", "should begin with a member"),
        ("", "should be a path"),
        ("odds[01]", "should be a path"),
        ("a" * 201, "at most 200 characters"),
    ],
)
def test_what_is_not_supported_is_named(text: str, words: str) -> None:
    """A path that is none says which part of JSONPath it wants, and what there is instead."""
    with pytest.raises(ValueError, match=words):
        value_steps(text)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"home": "teams..home"}, "recursive descent"),
        ({"teams": "teams", "home": "teams.home"}, "home is inside teams"),
        ({"first": "odds[0]", "best": "odds.best"}, "odds is an object for one of"),
    ],
)
def test_fields_that_cannot_be_read_together_are_refused(fields: dict[str, str], words: str) -> None:
    """When they are declared: a path that is none, a field inside another, an object that is also a list."""
    declared = {column: {"type": "string", "from": source} for column, source in fields.items()}
    with pytest.raises(ValueError, match=words):
        TypeDeclaration.model_validate({"fields": declared})
