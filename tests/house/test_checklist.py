"""The review checklist in CONTRIBUTING.md: each box is held by a check that exists, or says that it is not built."""

import re

from tests.house.project import ROOT

_DEFINED = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)
_BOX = re.compile(r"^- \[ \] (.*?)(?=^- \[ \]|^#|\Z)", re.MULTILINE | re.DOTALL)


def _boxes() -> list[str]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, _, checklist = text.partition("## The review checklist")
    return [" ".join(box.split()) for box in _BOX.findall(checklist)]


def test_the_checklist_is_there() -> None:
    """All of its boxes are kept: twenty-six, the one that stood twice counted once."""
    assert len(_boxes()) == 26


def test_every_box_names_its_check() -> None:
    """A box links to a file and names tests in it, or says `not built yet`; goodwill alone holds nothing."""
    loose = []
    for box in _boxes():
        files = [ROOT / link for link in re.findall(r"\]\(([^)#]+)\)", box)]
        tests = re.findall(r"`(test_\w+)`", box)
        there = {
            name for path in files if path.is_file() for name in _DEFINED.findall(path.read_text(encoding="utf-8"))
        }
        held = files and tests and set(tests) <= there and all(path.is_file() for path in files)
        if not held and (files or "not built yet" not in box):
            loose.append(box)
    assert not loose, "\n".join(loose)
