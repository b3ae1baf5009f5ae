"""Groups of commands, where a bare name says what there is: `livewell endpoints` is `livewell endpoints list`."""

from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup


class Listing(TyperGroup):
    """A group whose first command is meant when none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self.with_its_listing(args, help_options=ctx.help_option_names))

    def with_its_listing(self, args: list[str], *, help_options: Sequence[str]) -> list[str]:
        """The arguments, behind the first command where they name none."""
        if not args or (args[0].startswith("-") and args[0] not in help_options):
            return [next(iter(self.commands)), *args]
        return args


def listing(explained: str) -> typer.Typer:
    """A group of commands; the first one added to it is what its bare name does."""
    return typer.Typer(help=explained, cls=Listing, add_completion=False, rich_markup_mode=None)
