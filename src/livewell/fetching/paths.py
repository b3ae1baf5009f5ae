"""Where the rows are in an answer: `$[*]`, `$.data.items[*]`, `$.pages[0].rows[*]`, and no more of JSONPath."""

import re
from typing import Any

_STEP = re.compile(r"\.(?P<name>[A-Za-z_][A-Za-z0-9_-]*)|\[(?P<index>[0-9]{1,6})\]|(?P<all>\[\*\])")


class NotThere(Exception):
    """The answer has nothing where the path leads, or something of another shape."""


class JsonPath:
    """A compiled path."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps = list(_steps(text))

    def find(self, document: Any) -> list[Any]:
        """Everything the path leads to, in order; `NotThere` when a step has nothing to stand on."""
        found = [document]
        for step in self._steps:
            found = [one for here in found for one in self._follow(step, here)]
        return found

    def first(self, document: Any) -> Any:
        """The one thing the path leads to, None when there is none."""
        try:
            found = self.find(document)
        except NotThere:
            return None
        return found[0] if found else None

    def _follow(self, step: str | int | None, here: Any) -> list[Any]:
        match step, here:
            case None, list():
                return list(here)
            case str(), dict() if step in here:
                return [here[step]]
            case int(), list() if step < len(here):
                return [here[step]]
        raise NotThere(f"nothing at {self.text}")


def _steps(text: str) -> list[str | int | None]:
    steps: list[str | int | None] = []
    at = 1
    while text.startswith("$") and at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            break
        steps.append(found["name"] or (int(found["index"]) if found["index"] else None))
        at = found.end()
    if not text.startswith("$") or at != len(text):
        raise ValueError(f"{text!r} is no path")
    return steps
