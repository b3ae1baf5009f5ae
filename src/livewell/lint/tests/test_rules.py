"""Each rule finds what breaks it, where it is, and leaves alone what does not."""

import pytest

from livewell.lint import RULES, lint_text
from livewell.lint.tests.snippets import BAD, GOOD, GOOD_FETCH, fetching

_BAD = [(code, text) for code, texts in BAD.items() for text in texts]
_GOOD = [(code, text) for code, texts in GOOD.items() for text in texts]


def _marked(text: str) -> set[int]:
    return {number for number, line in enumerate(text.splitlines(), start=1) if line.endswith("#!")}


@pytest.mark.parametrize(("code", "text"), _BAD, ids=[code for code, _ in _BAD])
def test_what_breaks_a_rule_is_found_where_it_is(code: str, text: str) -> None:
    """The finding has the rule's code, stands on the line that breaks it, and says what to do instead."""
    found = [finding for finding in lint_text(text) if finding.code == code]
    assert {finding.line for finding in found} == _marked(text), [str(finding) for finding in lint_text(text)]
    assert all(finding.message and finding.fix and "\n" not in str(finding) for finding in found)


@pytest.mark.parametrize(("code", "text"), _GOOD, ids=[code for code, _ in _GOOD])
def test_what_keeps_a_rule_is_left_alone(code: str, text: str) -> None:
    """The same done well has no finding of that rule."""
    assert [str(finding) for finding in lint_text(text) if finding.code == code] == []


def test_a_sound_fetcher_has_no_finding() -> None:
    """The shape that the manual shows breaks no rule at all."""
    assert lint_text(fetching(GOOD_FETCH, decorator='@app.type("quote", endpoint="fmp/quote", ttl="1 minute")')) == []


def test_every_rule_is_tried() -> None:
    """No rule is without code that breaks it, and none without code that keeps it."""
    codes = {rule.code for rule in RULES}
    assert {*BAD, "LWL012"} == codes
    assert {*GOOD, "LWL000", "LWL012"} == codes
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


def test_code_that_has_nothing_to_do_with_fetchers_is_left_alone() -> None:
    """Rules are for fetchers, handlers and models; elsewhere a client, a sleep or a default is nobody's business."""
    text = (
        "import time, aiohttp\n\nclass Shop:\n    price: float = 0\n    async def buy(self):\n        time.sleep(1)\n"
    )
    assert lint_text(text) == []


@pytest.mark.parametrize("text", ["", "x = 1\n", "\ufeffx = 1\n", "class A(A): pass\n", "def f(): f()\n", "\x00"])
def test_odd_files_do_no_harm(text: str) -> None:
    """Whatever a file is, the linter says something or nothing, and ends."""
    assert all(finding.code == "LWL000" for finding in lint_text(text))
