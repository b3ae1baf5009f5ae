"""`livewell api-keys`: where the keys of providers are found. What they are is never shown."""

import os
from dataclasses import asdict
from pathlib import Path

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json
from livewell.cli.output import show_json, show_table
from livewell.cli.session import run

group = listing("Show where API keys are found.")


@group.command("list", epilog="Example: livewell api-keys list")
def list_keys(ctx: typer.Context, as_json: Json = False) -> None:
    """List API keys: where each is found, whether it can be read here. Never the key."""
    found = run(ctx, lambda app: app.budgets.list_api_keys())
    if as_json:
        show_json([{**asdict(one), "readable": _is_readable(one.source)} for one in found])
        return
    show_table(
        ("KEY", "SCOPE", "SOURCE", "READABLE HERE", "ENABLED", "GRANTED"),
        [
            (f"{one.provider}@{one.name}", one.scope, one.source, _is_readable(one.source), one.enabled, one.granted)
            for one in found
        ],
    )


def _is_readable(source: str) -> bool:
    """Whether something is there; what it is, nobody here looks at."""
    place, _, where = source.partition(":")
    if place == "env":
        return bool(os.environ.get(where))
    path = Path(where)
    try:
        return path.is_file() and path.stat().st_size > 0 and os.access(path, os.R_OK)
    except OSError:
        return False
