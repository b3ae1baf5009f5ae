"""Every page of the manual is found: in the list at its side, and by a link from another page."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.house.project import DOCS, ROOT

_LINK = re.compile(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)")
_IN_NAV = re.compile(r": *([\w/-]+\.md)$", re.MULTILINE)
_WORD = re.compile(r"^\| \*\*([^*]+)\*\* \|", re.MULTILINE)
PAGES = sorted(DOCS.rglob("*.md"))


@cache
def _linked() -> frozenset[Path]:
    """What is linked from a page other than itself."""
    return frozenset(
        target
        for page in (*PAGES, ROOT / "README.md")
        for name in _LINK.findall(page.read_text(encoding="utf-8"))
        if (target := (page.parent / name).resolve()) != page
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_no_page_is_an_orphan(page: Path) -> None:
    """A page that is in the list only, or linked only, is not found by half of those who need it."""
    listed = {DOCS / name for name in _IN_NAV.findall((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))}
    assert page in listed, "not in mkdocs.yml"
    assert page in _linked(), "no other page links to it"


def test_a_word_has_one_meaning() -> None:
    """The page of words has each word once."""
    words = _WORD.findall((DOCS / "reference" / "glossary.md").read_text(encoding="utf-8"))
    assert len(words) == len(set(words))
    assert {"provider", "endpoint", "data type", "key", "item", "viewer", "job", "lease", "budget", "task"} <= set(
        words
    )
