"""Where a command serves: HOST:PORT, and whom it lets near."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from livewell.api import DoorOptions

Listen = Annotated[
    str,
    typer.Option("--listen", metavar="HOST:PORT", envvar="LIVEWELL_LISTEN", help="Serve HTTP there; port 0 takes any."),
]
_HIGHEST_PORT = 65_535


def door_options(
    listen: str, origins: Sequence[str] | None = None, trusted_proxies: Sequence[str] | None = None
) -> "DoorOptions":
    """Where to serve, as it was typed."""
    from livewell.api import DoorOptions
    from livewell.cli.errors import Misused

    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdigit() or int(port) > _HIGHEST_PORT:
        raise Misused(f"{listen!r} is not HOST:PORT", fix="write 127.0.0.1:8800; port 0 takes any")
    return DoorOptions(
        host=host.strip("[]") or "127.0.0.1",
        port=int(port),
        origins=origins or (),
        trusted_proxies=trusted_proxies or (),
        token=os.environ.get("LIVEWELL_TOKEN") or None,
    )
