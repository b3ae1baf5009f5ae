"""`livewell provider` and `livewell keys`: whose API it is, its quota, and where its keys are found."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.options import Json, Reason
from livewell.cli.output import say, show_json, show_record, show_table, shown_bytes
from livewell.cli.session import run, who

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.budgets import Provider

group = typer.Typer(help="Show and tune providers.", no_args_is_help=True)
keys = typer.Typer(help="Show where API keys are found.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="PROVIDER", help="The provider.")]


@group.command("list", epilog="Example: livewell provider list")
def list_providers(ctx: typer.Context, as_json: Json = False) -> None:
    """List providers and their quotas."""
    providers = run(ctx, lambda app: app.budgets.list_providers())
    if as_json:
        show_json(providers)
        return
    show_table(
        ("PROVIDER", "STATE", "QUOTA", "WINDOW", "USE", "PACE", "ADDRESS"),
        [
            (
                *(one.name, one.state, shown_bytes(one.quota_bytes)),
                *((one.quota_window, one.quota_use, one.pace) if one.quota_bytes else (None, None, None)),
                one.base_url,
            )
            for one in providers
        ],
    )


@group.command("show", epilog="Example: livewell provider show fmp")
def show_provider(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show one provider."""
    found = run(ctx, lambda app: _one(app, name))
    if as_json:
        show_json(found)
    else:
        show_record(asdict(found))


@group.command("set", epilog="Example: livewell provider set fmp quota.bytes='20 GB' quota.use=0.9")
def set_provider(
    ctx: typer.Context,
    name: Name,
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE…",
            help="As in livewell.toml: state, description, base_url, quota.bytes, quota.window, quota.use, quota.pace,"
            " quota.bucket, policy; quota.bytes=unlimited for no quota, NAME= for the default.",
        ),
    ],
    reason: Reason = None,
) -> None:
    """Tune a provider while everything runs. Only the named fields change."""
    from livewell.budgets import PROVIDER_COLUMNS
    from livewell.cli.tuning import tuned

    wanted = tuned(changes, PROVIDER_COLUMNS)

    async def work(app: "Livewell") -> bool:
        await _one(app, name)
        return await app.budgets.set_provider(name, wanted, reason=reason, actor=who())

    say(f"{name} changed" if run(ctx, work) else f"{name} is so already")


@keys.command("list", epilog="Example: livewell keys list")
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


async def _one(app: "Livewell", name: str) -> "Provider":
    """The provider, or the fact that there is none, with what was probably meant."""
    from livewell.budgets import UnknownProvider
    from livewell.cli.inputs import near

    providers = {one.name: one for one in await app.budgets.list_providers()}
    if name not in providers:
        raise UnknownProvider(f"unknown provider {name}", fix=near(name, providers) or "livewell provider list")
    return providers[name]
