"""What commands print: tables, records, and amounts in one way."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from livewell.cli.output import show_record, show_table, shown, shown_field

COMMANDS = Path(__file__).parents[1]
# Percentages, significant digits and exponents are the kernel's to print.
OTHER_WAYS = re.compile(r":[\d.,]*[%ge]\}|total_seconds\(\):")


@pytest.fixture(autouse=True)
def _piped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def test_a_table_is_lines_of_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """Figures stand to the right, text to the left, wide characters take two places, and no line ends in blanks."""
    show_table(("NAME", "N", "WHAT"), [("東京", 5, "x"), ("a", 1234, None)])
    assert capsys.readouterr().out == "NAME     N  WHAT\n東京     5  x\na     1234  –\n"


def test_a_record_shows_what_is_set(capsys: pytest.CaptureFixture[str]) -> None:
    """A line a field, an amount by what its name says it is; what is not set is left out."""
    show_record({"max_bytes": 50 * 1024**2, "quota_use": 0.95, "every": timedelta(seconds=10), "gone": None, "n": 3})
    assert capsys.readouterr().out == "max_bytes  50 MB\nquota_use  95 %\nevery      10 s\nn          3\n"


def test_a_narrow_terminal_gets_a_table_that_folds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a line does not fit, what is long is folded, and no line is wider than the terminal."""
    monkeypatch.setenv("COLUMNS", "30")
    show_table(("NAME", "WHAT"), [("a", "words " * 20)])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 2
    assert max(len(line) for line in lines) <= 30


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (True, "yes"), (0.00005, "0.00005"), ([], "–"), (timedelta(seconds=-1), "0 s")]
)
def test_a_value_is_shown_as_people_read_it(value: object, text: str) -> None:
    """What is not there is a dash, a flag a word, a number has no exponent, and no time is negative."""
    assert shown(value) == text


def test_a_flag_is_no_amount() -> None:
    """A name makes an amount of numbers only."""
    assert shown_field("fits_share", value=True) == "yes"


def test_amounts_are_printed_one_way() -> None:
    """No command formats a share or a length of time by itself."""
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted(COMMANDS.glob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if OTHER_WAYS.search(line)
    ]
    assert found == []
