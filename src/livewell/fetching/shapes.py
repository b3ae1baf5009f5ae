"""The shape of nested rows: which members and positions are declared, and what is there beside them.

A row is laid flat before its model reads it: each declared value under its path, and everything beside it under its
own. So a model refuses what is unknown at any depth by the rule it has for the outermost members.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, Union

from pydantic_core import PydanticCustomError

from livewell.registry import path_text

Steps: TypeAlias = Sequence[str | int]
_Branch: TypeAlias = dict[str | int, Union["_Branch", str]]
_SHAPES: Mapping[type, str] = {str: "text", bool: "a truth value", int: "a number", float: "a number"}


class Shape:
    """Where the declared values of a row are."""

    def __init__(self, paths: Sequence[Steps]) -> None:
        self._branch: _Branch = {}
        for steps in paths:
            here = self._branch
            for step in steps[:-1]:
                below = here.setdefault(step, {})
                assert isinstance(below, dict)  # noqa: S101 - the declaration refuses a field inside another
                here = below
            here[steps[-1]] = path_text(steps)

    def flat(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The declared values by their paths, and whatever is beside them by its own."""
        return dict(_laid_flat(self._branch, row, ()))


def follow(steps: Steps, row: Any) -> Any:
    """What steps lead to, None where there is nothing."""
    for step in steps:
        match step, row:
            case str(), Mapping() if step in row:
                row = row[step]
            case int(), list() if step < len(row):
                row = row[step]
            case _:
                return None
    return row


def _laid_flat(branch: _Branch, here: Any, at: tuple[str | int, ...]) -> Iterator[tuple[str, Any]]:
    for step, value in _members(branch, here, at):
        below = branch.get(step)
        match below:
            case None:
                yield path_text((*at, step)), value
            case str():
                yield below, value
            case _ if value is None:
                yield from ((leaf, None) for leaf in _leaves(below))
            case _:
                yield from _laid_flat(below, value, (*at, step))


def _members(branch: _Branch, here: Any, at: tuple[str | int, ...]) -> Iterator[tuple[str | int, Any]]:
    """What an object or a list has; of a list what is declared, and the first position that is not."""
    if isinstance(next(iter(branch)), str):
        if not isinstance(here, dict):
            raise _other_shape(here, at, "an object")
        yield from here.items()
        return
    if not isinstance(here, list):
        raise _other_shape(here, at, "a list")
    yield from ((position, here[position]) for position in branch if isinstance(position, int) and position < len(here))
    unknown = next((position for position in range(len(here)) if position not in branch), None)
    if unknown is not None:
        yield unknown, here[unknown]


def _leaves(branch: _Branch) -> Iterator[str]:
    for below in branch.values():
        if isinstance(below, str):
            yield below
        else:
            yield from _leaves(below)


def _other_shape(here: Any, at: tuple[str | int, ...], wanted: str) -> PydanticCustomError:
    got = "a list" if isinstance(here, list) else "an object" if isinstance(here, dict) else _SHAPES.get(type(here))
    return PydanticCustomError(
        "nested_type", "{path} should be {wanted}, not {got}", {"path": path_text(at), "wanted": wanted, "got": got}
    )
