"""`livewell api-keys`: where the keys of providers are found. What they are is never shown."""

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json
from livewell.cli.output import show_json, show_table
from livewell.cli.session import run

if TYPE_CHECKING:
    from livewell.budgets import KeyRing

group = listing("Show where API keys are found.")


@group.command("list", epilog="Example: livewell api-keys list")
def list_keys(ctx: typer.Context, as_json: Json = False) -> None:
    """List API keys: where each is found, whether it can be read here. Never the key."""
    found = run(ctx, lambda app: app.budgets.list_api_keys())
    ring = _ring()
    if as_json:
        show_json([{**asdict(key), "readable": _is_readable(ring, key.source)} for key in found])
        return
    show_table(
        ("KEY", "SCOPE", "SOURCE", "READABLE HERE", "ENABLED", "GRANTED"),
        [
            (
                f"{key.provider}@{key.name}",
                key.scope,
                key.source,
                _is_readable(ring, key.source),
                key.enabled,
                key.granted,
            )
            for key in found
        ],
    )


def _ring() -> "KeyRing":
    """What a `livewell up` started here could read."""
    from livewell.budgets import KeyRing, KeySources, key_sources_of
    from livewell.cli.apply import read_file
    from livewell.kernel import DeclarationsRefused

    sources, file = KeySources.from_environment(), Path("livewell.toml")
    with suppress(DeclarationsRefused):
        if file.exists():
            sources = sources.and_declared(key_sources_of(read_file(file).sections.get("provider", {})))
    return KeyRing(sources=sources)


def _is_readable(ring: "KeyRing", source: str) -> bool:
    """Whether there is a key that may be read. The key itself is not looked at."""
    from livewell.budgets import KeyUnreadable

    try:
        ring.read(source)
    except KeyUnreadable:
        return False
    return True
