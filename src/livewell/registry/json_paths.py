"""Paths into an answer: members and positions, `teams.home` or `$.odds[0].price`, and no more of JSONPath.

Where the rows of an answer are found a path may also take every element of a list, `$.data[*]`. A member that is no
plain word is quoted: `$["05. price"]`. What else JSONPath knows is refused by name when it is declared.
"""

import re
from collections.abc import Sequence
from typing import TypeAlias

Step: TypeAlias = str | int | None
"""A member, a position, or every element."""

_LONGEST = 200
_PLAIN = re.compile(r"[\w-]+")
_STEP = re.compile(
    r"""\.(?P<plain>[\w-]+)"""
    r"""|\[(?P<position>0|[1-9][0-9]{0,5})\]"""
    r"""|\["(?P<double>(?:[^"\\\x00-\x1f]|\\["\\])+)"\]"""
    r"""|\['(?P<single>(?:[^'\\\x00-\x1f]|\\['\\])+)'\]"""
    r"""|(?P<all>\[\*\])"""
)
_ESCAPED = re.compile(r"\\(.)")
_UNSUPPORTED = (
    (re.compile(r"\.\."), "recursive descent (..) is"),
    (re.compile(r"\.\*|\[\*"), "wildcards (*) are"),
    (re.compile(r"\[\s*\?"), "filters (?) are"),
    (re.compile(r"\[\s*-\s*[0-9]+\s*\]"), "positions from the end are"),
    (re.compile(r"\[[-0-9\s]*:"), "slices (:) are"),
    (re.compile(r"\[[^\]]*,"), "several members or positions at once are"),
    (re.compile(r"\[[0-9]{7}"), "positions above 999999 are"),
)
ONE_VALUE = (
    'a path has members and positions, as "teams.home" or "$.odds[0].price"; other names are quoted: $["05. price"]'
)
ALL_ROWS = 'a path has members, positions and [*], as "$[*]" or "$.data.items[*]"; other names are quoted: $["05. x"]'


def row_steps(text: str) -> list[Step]:
    """The steps of a path to rows, which may take every element of a list; ValueError says what is not supported."""
    return _read(text, ALL_ROWS)


def value_steps(text: str) -> list[str | int]:
    """The steps of a path to one value in a row; ValueError says what is not supported."""
    found = _read(text, ONE_VALUE)
    steps = [step for step in found if step is not None]
    if len(steps) < len(found):
        raise ValueError(f"wildcards (*) are not supported: {ONE_VALUE}")
    if not steps or not isinstance(steps[0], str):
        raise ValueError(f"should begin with a member, since a row is an object: {ONE_VALUE}")
    return steps


def path_text(steps: Sequence[str | int]) -> str:
    """Steps as a path is written, the same for the same steps."""
    return "".join(map(_written, steps)).removeprefix(".")


def _read(text: str, allowed: str) -> list[Step]:
    if len(text) > _LONGEST:
        raise ValueError(f"should be a path of at most {_LONGEST} characters")
    whole = text[1:] if text.startswith("$") else text if text.startswith("[") else f".{text}"
    steps: list[Step] = []
    at = 0
    while at < len(whole):
        found = _STEP.match(whole, at)
        if found is None:
            raise ValueError(_refusal(whole[at:], allowed))
        steps.append(_step(found))
        at = found.end()
    return steps


def _step(found: re.Match[str]) -> Step:
    if found["all"]:
        return None
    if found["position"]:
        return int(found["position"])
    quoted = found["double"] or found["single"]
    return _ESCAPED.sub(r"\1", quoted) if quoted else found["plain"]


def _refusal(rest: str, allowed: str) -> str:
    what = next((words for pattern, words in _UNSUPPORTED if pattern.match(rest)), None)
    return f"should be a path: {allowed}" if what is None else f"{what} not supported: {allowed}"


def _written(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _PLAIN.fullmatch(step):
        return f".{step}"
    return '["' + step.replace("\\", "\\\\").replace('"', '\\"') + '"]'
