"""`livewell endpoints`: what may be sent where, tuned, paused and reset while everything runs."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.budgets import BREAKER_WORDS
from livewell.cli.groups import listing
from livewell.cli.options import For, Json, Reason, Until
from livewell.cli.output import say, show_json, show_list, show_record, shown
from livewell.cli.session import run, who

if TYPE_CHECKING:
    from livewell.budgets import Endpoint
    from livewell.stores import Stores

group = listing("Show, tune, pause, resume and reset endpoints.")

Name = Annotated[str, typer.Argument(metavar="ENDPOINT", help="The endpoint, as fmp/quote; an account, as fmp.")]
Limiter = Annotated[
    str,
    typer.Argument(
        metavar="ENDPOINT", help="The endpoint, as fmp/quote; an account, as fmp; a scope of keys, as fmp@main."
    ),
]


@group.command("list", epilog="Example: livewell endpoints list")
def list_endpoints(ctx: typer.Context, as_json: Json = False) -> None:
    """List endpoints and accounts with their limits."""
    endpoints = run(ctx, lambda app: app.budgets.list_endpoints())
    show_list(
        endpoints,
        ("ENDPOINT", "STATE", "PER MIN", "PER HOUR", "TOKENS/MIN", "TOKENS/H", "AT ONCE", "LIMITER", "CLOSED"),
        lambda endpoint: (
            *(
                endpoint.name,
                endpoint.state,
                endpoint.requests_per_minute,
                endpoint.requests_per_hour,
                endpoint.tokens_per_minute,
            ),
            *(endpoint.tokens_per_hour, endpoint.concurrent, endpoint.limiter, _closed(endpoint)),
        ),
        as_json=as_json,
    )


@group.command("show", epilog="Example: livewell endpoints show fmp/quote")
def show_endpoint(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show one endpoint. With everything that can be tuned."""
    found = run(ctx, lambda app: _one(app, name))
    if as_json:
        show_json(found)
    else:
        show_record({**asdict(found), "breaker": BREAKER_WORDS.get(found.breaker, found.breaker)})


@group.command("set", epilog="Example: livewell endpoints set fmp/quote requests.per_minute=60 concurrent=unlimited")
def set_endpoint(
    ctx: typer.Context,
    name: Name,
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE…",
            help="As in livewell.toml: requests.per_minute, tokens.per_hour, concurrent, state, breaker.failures …;"
            " NAME=unlimited for no limit, NAME= for the default.",
        ),
    ],
    reason: Reason = None,
) -> None:
    """Tune an endpoint while everything runs. Only the named fields change."""
    from livewell.budgets import ENDPOINT_COLUMNS
    from livewell.cli.tuning import tuned

    wanted = tuned(changes, ENDPOINT_COLUMNS)

    async def work(app: "Stores") -> bool:
        await _one(app, name)
        return await app.budgets.set_endpoint(name, wanted, reason=reason, actor=who())

    say(f"{name} changed" if run(ctx, work) else f"{name} is so already")


@group.command("pause", epilog="Example: livewell endpoints pause fmp/quote --for 30m --reason 'provider is down'")
def pause_endpoint(
    ctx: typer.Context,
    name: Limiter,
    until: Until = None,
    length: For = None,
    reason: Reason = None,
) -> None:
    """Send nothing to an endpoint for a while. Jobs still come in, calls under way go on."""
    from livewell.cli.inputs import pause_end

    end = pause_end(until, length)

    async def work(app: "Stores") -> None:
        await _require_limiter(app, name)
        await app.budgets.pause_endpoint(name, until=end, reason=reason, actor=who())

    run(ctx, work)
    say(f"{name} is paused until {shown(end) if end else 'resumed'}")


@group.command("resume", epilog="Example: livewell endpoints resume fmp/quote")
def resume_endpoint(ctx: typer.Context, name: Limiter, reason: Reason = None) -> None:
    """Open an endpoint that was paused, or closed by its provider."""

    async def work(app: "Stores") -> bool:
        await _require_limiter(app, name)
        return await app.budgets.resume_endpoint(name, reason=reason, actor=who())

    say(f"{name} is open again" if run(ctx, work) else f"{name} was not closed")


@group.command("reset", epilog="Example: livewell endpoints reset fmp/quote --reason 'new contract'")
def reset_endpoint(ctx: typer.Context, name: Limiter, reason: Reason = None) -> None:
    """Forget what an endpoint taught: learned limits, throttling, its breaker. What was sent stays counted."""

    async def work(app: "Stores") -> None:
        await _require_limiter(app, name)
        await app.budgets.reset_endpoint(name, reason=reason, actor=who())

    run(ctx, work)
    say(f"{name} is as if it were new, but for what was sent")


async def _one(app: "Stores", name: str) -> "Endpoint":
    from livewell.budgets import UnknownEndpoint
    from livewell.cli.inputs import named

    return named(name, await app.budgets.list_endpoints(), UnknownEndpoint, "unknown endpoint", "endpoints")


async def _require_limiter(app: "Stores", name: str) -> None:
    """What can be closed and opened: endpoints, accounts, and scopes of keys."""
    if "@" not in name:
        await _one(app, name)
        return
    from livewell.budgets import UnknownEndpoint
    from livewell.cli.inputs import near

    scopes = {f"{key.provider}@{key.scope}" for key in await app.budgets.list_api_keys()}
    if name not in scopes:
        raise UnknownEndpoint(f"unknown scope of keys {name}", fix=near(name, scopes) or "livewell api-keys list")


def _closed(endpoint: "Endpoint") -> str | None:
    if endpoint.closed_for_good:
        return "until resumed"
    return f"until {shown(endpoint.closed_until)}" if endpoint.closed_until else None
