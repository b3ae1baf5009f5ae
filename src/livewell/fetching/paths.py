"""Paths followed through an answer: to its rows, and in a row to one value."""

from typing import Any

from livewell.registry import Step, row_steps


class NotThere(Exception):
    """The answer has nothing where the path leads, or something of another shape."""


class JsonPath:
    """A compiled path to rows."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps = row_steps(text)

    def find(self, document: Any) -> list[Any]:
        """Everything the path leads to, in order; `NotThere` when a step leads nowhere."""
        found = [document]
        for step in self._steps:
            found = [there for here in found for there in self._follow(step, here)]
        return found

    def first(self, document: Any) -> Any:
        """The one thing the path leads to, None when there is none."""
        try:
            found = self.find(document)
        except NotThere:
            return None
        return found[0] if found else None

    def _follow(self, step: Step, here: Any) -> list[Any]:
        match step, here:
            case None, list():
                return list(here)
            case str(), dict() if step in here:
                return [here[step]]
            case int(), list() if step < len(here):
                return [here[step]]
        raise NotThere(f"nothing at {self.text}")
