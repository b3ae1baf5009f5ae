"""The pictures of the manual are drawn by the code that is in it."""

import re
from xml.etree import ElementTree as ET

import pytest

from livewell.cli.tests.pictures import FOLDER, PICTURES, STEPS


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_is_drawn(name: str) -> None:
    """Figures of a real run through the code that draws them today give the picture that is in the manual."""
    assert (FOLDER / name).read_text() == PICTURES[name](), "python -m livewell.cli.tests.pictures"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_asks_no_other_host_for_anything(name: str) -> None:
    """It is sound XML, and brings no font, image or script from elsewhere."""
    svg = (FOLDER / name).read_text()
    ET.fromstring(svg)  # noqa: S314 - it is ours
    assert not re.search(r"@font-face|@import|url\(['\"]?http|href=|<script", svg)


def test_the_lines_of_the_walk_fit_their_boxes() -> None:
    """With the widest usual font, no line is longer than its box."""
    assert max(len(line) for step in STEPS for line in step.lines) <= 31
