"""`livewell sessions`, `viewers` and `presence`: who is there, what they look at, and where that is read from."""

from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json
from livewell.cli.output import show_list
from livewell.cli.session import run
from livewell.kernel import shown_number

if TYPE_CHECKING:
    from livewell.presence import PresenceSource

group = listing("Show where presence is read from.")
sessions = listing("Show who is there.")

VIEWERS_EXAMPLE = "Example: livewell viewers quote AAPL"

Limit = Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")]


@sessions.command("list", epilog="Example: livewell sessions list --user anna")
def list_sessions(
    ctx: typer.Context,
    user: Annotated[str | None, typer.Option("--user", metavar="USER", help="Only this user's.")] = None,
    gateway: Annotated[
        str | None, typer.Option("--gateway", metavar="NAME", help="Only those of this gateway.")
    ] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List sessions, newest first, with how many items each looks at."""
    found = run(ctx, lambda app: app.presence.store.list_sessions(user=user, gateway=gateway, limit=limit))
    show_list(
        found,
        ("SESSION", "USER", "ITEMS", "GATEWAY", "LAST SEEN", "SINCE"),
        lambda session: (
            session.id,
            session.user_id,
            session.items,
            session.gateway,
            session.last_seen,
            session.created_at,
        ),
        as_json=as_json,
    )


def list_viewers(
    ctx: typer.Context,
    data_type: Annotated[str | None, typer.Argument(metavar="TYPE", help="The data type; all if left out.")] = None,
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="The key; all if left out.")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List what is looked at, by how many distinct users, the most watched first."""
    found = run(ctx, lambda app: app.presence.store.list_viewers(data_type=data_type, key=key, limit=limit))
    show_list(
        found,
        ("TYPE", "KEY", "VIEWERS", "ON AVERAGE", "SINCE", "DUE"),
        lambda item: (
            item.data_type,
            item.key,
            item.viewers,
            shown_number(item.viewers_average),
            item.watched_since,
            item.due_at,
        ),
        as_json=as_json,
    )


@group.command("sources", epilog="Example: livewell presence sources")
def list_sources(ctx: typer.Context, as_json: Json = False) -> None:
    """List the views and functions that presence is read from, and how that went."""
    found = run(ctx, lambda app: app.presence.store.list_sources())
    show_list(
        found,
        ("SOURCE", "READS", "EVERY", "STATE", "USERS", "ROWS", "SKIPPED", "LAST GOOD"),
        lambda source: (
            source.name,
            source.reads,
            source.every,
            _state(source),
            source.users,
            source.rows_read,
            source.rows_skipped,
            source.last_ok_at,
        ),
        as_json=as_json,
    )


def _state(source: "PresenceSource") -> str:
    if not source.enabled:
        return "disabled"
    if source.last_error is not None:
        return f"failed: {source.last_error}"
    return "silent" if source.silent_since else "fine" if source.last_ok_at else "not read yet"
