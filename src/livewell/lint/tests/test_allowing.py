"""A finding is allowed on its line, with a reason; what allows nothing is found itself."""

from pathlib import Path

import pytest

from livewell.lint import lint_paths, lint_text
from livewell.lint.tests.snippets import fetching

SLEEP = "time.sleep(1)  {comment}\nreturn []"


def codes(comment: str) -> list[str]:
    return [finding.code for finding in lint_text(fetching(SLEEP.format(comment=comment), before="import time"))]


def test_a_reason_allows_what_it_names() -> None:
    """The finding is gone, and nothing else is said."""
    assert codes("# livewell: allow LWL008 the provider asks for a pause, and this runs in a process of its own") == []


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        ("", ["LWL008"]),
        ("# livewell: allow LWL008", ["LWL008", "LWL012"]),
        ("# livewell: allow LWL008 -", ["LWL008", "LWL012"]),
        ("# livewell: allow", ["LWL008", "LWL012"]),
        ("# livewell: allow LWL099 there is none", ["LWL008", "LWL012"]),
        ("# livewell: allow LWL001 it is not about this", ["LWL008", "LWL012"]),
        ("# livewell: allow LWL001, LWL008 half of it", ["LWL012"]),
        ("# allow LWL008 a comment of something else", ["LWL008"]),
    ],
)
def test_an_allowance_without_effect_is_a_finding(comment: str, found: list[str]) -> None:
    """One without a reason, of no rule or of nothing that is there allows nothing and is told."""
    assert codes(comment) == found


def test_an_allowance_counts_on_its_own_line_only() -> None:
    """The same sleep a line later is found."""
    body = "time.sleep(1)  # livewell: allow LWL008 once is enough\ntime.sleep(1)\nreturn []"
    (finding,) = lint_text(fetching(body, before="import time"))
    assert finding.code == "LWL008"


def test_a_comment_in_a_string_allows_nothing() -> None:
    """Only comments are read as such."""
    body = 'time.sleep(len("# livewell: allow LWL008 no comment"))\nreturn []'
    assert [finding.code for finding in lint_text(fetching(body, before="import time"))] == ["LWL008"]


def test_folders_are_walked_and_nothing_is_run(tmp_path: Path) -> None:
    """Python files below a folder are looked at, but for hidden ones and installed packages; none is imported."""
    text = fetching("time.sleep(1)\nreturn []", before=f"import time\nopen({str(tmp_path / 'ran')!r}, 'w')")
    for name in ("a.py", "deep/b.py", ".hidden/c.py", "env/lib/d.py", "node_modules/e.py", "notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    found = {Path(finding.path).relative_to(tmp_path).as_posix() for finding in lint_paths([tmp_path])}
    assert found == {"a.py", "deep/b.py"}
    assert not (tmp_path / "ran").exists()


def test_a_file_that_cannot_be_decoded_is_a_finding(tmp_path: Path) -> None:
    """As one with bad syntax: told, not raised."""
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'\n")
    assert [finding.code for finding in lint_paths([tmp_path])] == ["LWL000"]
