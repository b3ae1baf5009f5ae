"""The review checklist in CONTRIBUTING.md: each box is held by a check that exists, or says that it is not built."""

import re

from tests.house.project import ROOT

_BOX = re.compile(r"^- \[ \] (.*?)(?=^- \[ \]|^#|\Z)", re.MULTILINE | re.DOTALL)


def _boxes() -> list[str]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, _, checklist = text.partition("## The review checklist")
    return [" ".join(box.split()) for box in _BOX.findall(checklist)]


def test_the_checklist_is_there() -> None:
    """All of its boxes are kept: twenty-six, the one that stood twice counted once."""
    assert len(_boxes()) == 26


def test_every_box_names_its_check() -> None:
    """A box links to a file that exists, or says `not built yet`; a box that only asks for goodwill holds nothing."""
    loose = []
    for box in _boxes():
        links = re.findall(r"\]\(([^)#]+)[^)]*\)", box)
        if not all((ROOT / link).exists() for link in links) or not (links or "not built yet" in box):
            loose.append(box)
    assert loose == []
