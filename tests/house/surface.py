"""What the product shows: its facts and metrics, declared when it is imported, and its commands."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import typer

import livewell
from livewell.cli import app
from livewell.kernel import LivewellError


def load_every_room() -> None:
    """Import every module of the product, so that what declares itself on import (facts, metrics) is declared."""
    for module in pkgutil.walk_packages(livewell.__path__, "livewell."):
        if ".tests" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def sqlstates(fact: type[LivewellError]) -> tuple[str, ...]:
    return (fact.sqlstate,) if isinstance(fact.sqlstate, str) else fact.sqlstate


def commands() -> dict[str, Any]:
    """Every command that is shown, by how it is written."""
    return dict(_commands(typer.main.get_command(app), "livewell"))


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """A command and all below it; Typer carries its own copy of Click, whose types are not public."""
    if not command.hidden:
        yield path, command
    for name, child in sorted(getattr(command, "commands", {}).items()):
        yield from _commands(child, f"{path} {name}")
