"""`livewell maintenance`: stop claiming, and claim again."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json, Reason
from livewell.cli.output import say, show_json, shown
from livewell.cli.session import run, who

if TYPE_CHECKING:
    from livewell.settings import Maintenance

group = listing("Stop claiming, and claim again. Jobs still come in meanwhile, and workers finish what they hold.")


@group.command("status", epilog="Example: livewell maintenance status --json")
def status(ctx: typer.Context, as_json: Json = False) -> None:
    """Say whether it is on, since when, and who switched it."""
    from livewell.settings import Maintenance, SettingsStore

    found = run(ctx, lambda app: Maintenance(SettingsStore(app.database)).status())
    if as_json:
        show_json(found)
    else:
        say(f"{'on' if found.enabled else 'off'} since {shown(found.changed_at)}, by {found.changed_by}")


@group.command("on", epilog="Example: livewell maintenance on --reason 'moving the database'")
def switch_on(ctx: typer.Context, reason: Reason = None) -> None:
    """Stop claiming."""
    changed = _switch(ctx, lambda mode: mode.begin(actor=who(), reason=reason or "switched on by hand"))
    say("maintenance mode is on: nothing is claimed" if changed else "maintenance mode was on already")


@group.command("off", epilog="Example: livewell maintenance off")
def switch_off(ctx: typer.Context, reason: Reason = None) -> None:
    """Claim again."""
    changed = _switch(ctx, lambda mode: mode.end(actor=who(), reason=reason or "switched off by hand"))
    say("maintenance mode is off" if changed else "maintenance mode was off already")


def _switch(ctx: typer.Context, work: "Callable[[Maintenance], Awaitable[bool]]") -> bool:
    from livewell.settings import Maintenance, SettingsStore

    return run(ctx, lambda app: work(Maintenance(SettingsStore(app.database))))
