"""`livewell kinds`: what jobs there are, how each is treated, and which are paused."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.groups import listing
from livewell.cli.options import For, Json, Reason, Until
from livewell.cli.output import say, show_list, show_one, shown
from livewell.cli.session import run, who

if TYPE_CHECKING:
    from livewell.jobs import Kind
    from livewell.stores import Stores

group = listing("Show, tune, pause and resume kinds of jobs.")

Name = Annotated[str, typer.Argument(metavar="KIND", help="The kind.")]


@group.command("list", epilog="Example: livewell kinds list")
def list_kinds(ctx: typer.Context, as_json: Json = False) -> None:
    """List kinds, their tuning and who handles them."""
    kinds = run(ctx, lambda app: app.jobs.list_kinds())
    show_list(
        kinds,
        ("KIND", "GROUP", "RETRIES", "LEASE", "TIME LIMIT", "AT ONCE", "WORKERS", "PAUSED"),
        lambda kind: (
            kind.kind,
            kind.queue_group,
            kind.retries,
            kind.lease,
            kind.time_limit,
            kind.concurrency,
            kind.workers,
            _paused(kind),
        ),
        as_json=as_json,
    )


@group.command("declare", epilog="Example: livewell kinds declare reports:app")
def declare_kinds(
    ctx: typer.Context,
    application: Annotated[
        str, typer.Argument(metavar="MODULE:APP", help="A Livewell object and its module.")
    ] = "app:app",
) -> None:
    """Make the kinds of an application known. A worker, or opening the application, does this by itself."""
    import asyncio

    from livewell.cli.loading import load_application
    from livewell.cli.options import chosen
    from livewell.cli.session import set_up_logs

    set_up_logs("warning")
    app = load_application(application, chosen(ctx))

    async def declared() -> list[str]:
        async with app:
            return sorted(app.handlers)

    for kind in asyncio.run(declared()):
        say(kind)


@group.command("show", epilog="Example: livewell kinds show report")
def show_kind(ctx: typer.Context, kind: Name, as_json: Json = False) -> None:
    """Show one kind. With everything that can be tuned, and the schema of its payload."""
    found = run(ctx, lambda app: _one(app, kind))
    show_one(found, as_json=as_json)


@group.command("set", epilog="Example: livewell kinds set report retries=5 lease=2m concurrency=")
def set_kind(
    ctx: typer.Context,
    kind: Name,
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE…",
            help="queue_group, description, retries, backoff_first, backoff_max, lease, time_limit, concurrency,"
            " default_priority, payload_schema (JSON or @FILE); NAME= for the default.",
        ),
    ],
    reason: Reason = None,
) -> None:
    """Tune a kind while everything runs. Only the named fields change."""
    from livewell.cli.inputs import assignments

    wanted = assignments(changes)
    changed = run(ctx, lambda app: app.jobs.set_kind(kind, wanted, reason=reason, actor=who()))
    say(f"{kind} changed" if changed else f"{kind} is so already")


@group.command("pause", epilog="Example: livewell kinds pause report --for 30m --reason 'provider is down'")
def pause_kind(
    ctx: typer.Context,
    kind: Name,
    until: Until = None,
    length: For = None,
    reason: Reason = None,
) -> None:
    """Claim nothing of a kind for a while. Jobs still come in, running ones go on."""
    from livewell.cli.inputs import pause_end

    end = pause_end(until, length)
    run(ctx, lambda app: app.jobs.pause_kind(kind, until=end, reason=reason, actor=who()))
    say(f"{kind} is paused until {shown(end) if end else 'resumed'}")


@group.command("resume", epilog="Example: livewell kinds resume report")
def resume_kind(ctx: typer.Context, kind: Name, reason: Reason = None) -> None:
    """Claim a paused kind again."""
    resumed = run(ctx, lambda app: app.jobs.resume_kind(kind, reason=reason, actor=who()))
    say(f"{kind} is claimed again" if resumed else f"{kind} was not paused")


async def _one(app: "Stores", kind: str) -> "Kind":
    from livewell.cli.session import require_kinds

    await require_kinds(app.jobs, [kind])
    (found,) = await app.jobs.list_kinds([kind])
    return found


def _paused(kind: "Kind") -> str | None:
    if kind.paused_for_good:
        return "until resumed"
    if kind.paused_until is not None and kind.paused_until > datetime.now(UTC):
        return f"until {shown(kind.paused_until)}"
    return None
