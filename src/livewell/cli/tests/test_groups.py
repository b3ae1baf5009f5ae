"""Groups of commands, by what their bare names do."""

from typing import Any

import pytest
import typer

from livewell.cli import app
from livewell.cli.groups import Listing

ROOT: Any = typer.main.get_command(app)
GROUPS = [name for name, command in ROOT.commands.items() if hasattr(command, "commands") and name != "admin"]


@pytest.mark.parametrize("name", GROUPS)
def test_a_bare_group_shows_what_there_is(name: str) -> None:
    """Each group but `admin` means its listing when no command is named, also with options of the listing."""
    group = ROOT.commands[name]
    assert isinstance(group, Listing)
    first = next(iter(group.commands))
    assert first in {"list", "status", "sources"}
    for args in ([], ["--json"]):
        assert group.with_its_listing(args, help_options=["--help"]) == [first, *args]
    assert group.with_its_listing(["--help"], help_options=["--help"]) == ["--help"]


def test_names_of_groups_are_plural() -> None:
    """What can be counted is plural."""
    uncountable = {"presence", "maintenance", "audit", "postgres"}
    assert [name for name in GROUPS if not name.endswith("s") and name not in uncountable] == []
