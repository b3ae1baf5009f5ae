"""A file of declarations: read by sections this room does not know, every problem at its line."""

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter

from livewell.kernel import DeclarationsRefused, LivewellError, Tables, dotted, read_declarations


class UnknownPart(LivewellError):
    """A boat has no such part; without a code of its own, because only these tests know it."""


class InvalidPart(LivewellError):
    """A part cannot be so."""


class Boat(BaseModel):
    """One table of the section."""

    model_config = ConfigDict(extra="forbid", strict=True)
    length: int
    crew: list[str] = []


class Boats:
    """Tables as a room of one's own would offer them."""

    word = "boat"
    model = Boat
    by_name: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Boat])
    unknown_field = UnknownPart
    invalid_field = InvalidPart


SECTIONS: list[Tables] = [Boats()]


def _problems(text: str) -> list[str]:
    with pytest.raises(DeclarationsRefused) as refused:
        read_declarations(text.encode(), "harbour.toml", SECTIONS)
    assert refused.value.detail == "\n".join(map(str, refused.value.problems))
    return [str(problem) for problem in refused.value.problems]


def test_a_problem_is_a_fact_of_the_room() -> None:
    """Who takes the tables says by which facts they are refused."""
    with pytest.raises(DeclarationsRefused) as refused:
        read_declarations(b"[boat.a]\nlength = 'x'\nlegnth = 1\n", "harbour.toml", SECTIONS)
    assert [type(problem.fact) for problem in refused.value.problems] == [InvalidPart, UnknownPart]


def test_tables_become_what_their_section_says() -> None:
    """A file is its sections, each table a model; an empty file declares nothing."""
    declared = read_declarations(b"[boat.a]\nlength = 3\n", "harbour.toml", SECTIONS)
    assert declared.sections == {"boat": {"a": Boat(length=3)}}
    assert read_declarations(b"", "harbour.toml", SECTIONS).sections == {}


def test_all_problems_are_told_in_order_of_lines() -> None:
    """Nobody mends a file one problem per run."""
    text = '[bote.x]\n[boat.a]\nlenght = 3\ncrew = [\n  "Ann",\n  7,\n]\n[boat.b]\nlength = "long"\n'
    assert _problems(text) == [
        'harbour.toml:1: unknown section "bote" (did you mean "boat"?) [kernel.unknown_section]',
        "harbour.toml:2: boat.a: length is missing [livewell.error]",
        'harbour.toml:3: boat.a: unknown field "lenght" (did you mean "length"?) [livewell.error]',
        "harbour.toml:6: boat.a.crew: 1 should be a valid string, not 7 [livewell.error]",
        "harbour.toml:9: boat.b: length should be a valid integer [livewell.error]",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[boat.a\n", "harbour.toml:1: expected ']' at the end of a table declaration [kernel.toml_syntax]"),
        ("x = 1\n\ny = \n", "harbour.toml:3: invalid value [kernel.toml_syntax]"),
        ('x = """\nnever closed\n', "harbour.toml:2: unterminated string [kernel.toml_syntax]"),
    ],
)
def test_what_is_no_toml_is_told_at_its_line(text: str, told: str) -> None:
    """The parser's reason, and the line even when it is the end of the file."""
    assert _problems(text) == [told]


def test_a_fact_that_turns_out_later_is_told_at_its_line() -> None:
    """What only the database knows to be wrong still has a place in the file, if only that of the table around it."""
    declared = read_declarations(b"\n[boat.a]\nlength = 3\n", "harbour.toml", SECTIONS)
    told = declared.problem(("boat", "a", "crew", 3), InvalidPart("too many hands", fix="sail alone"))
    assert str(told) == "harbour.toml:2: boat.a.crew.3: too many hands (sail alone) [livewell.error]"


def test_a_path_is_written_as_in_the_file() -> None:
    """A part that is no bare key is quoted."""
    assert dotted(("provider", "x y", "endpoint", "a/b", 2)) == 'provider."x y".endpoint."a/b".2'
