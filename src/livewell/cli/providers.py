"""`livewell providers`: whose API it is, and its quota."""

from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json, Reason
from livewell.cli.output import given, say, show_list, show_one
from livewell.cli.session import run, who
from livewell.kernel import shown_share, shown_size

if TYPE_CHECKING:
    from livewell.budgets import Provider
    from livewell.stores import Stores

group = listing("Show and tune providers.")

Name = Annotated[str, typer.Argument(metavar="PROVIDER", help="The provider.")]


@group.command("list", epilog="Example: livewell providers list")
def list_providers(ctx: typer.Context, as_json: Json = False) -> None:
    """List providers and their quotas."""
    providers = run(ctx, lambda app: app.budgets.list_providers())
    show_list(
        providers,
        ("PROVIDER", "STATE", "QUOTA", "WINDOW", "USE", "PACE", "ADDRESS"),
        lambda provider: (
            *(provider.name, provider.state, given(provider.quota_bytes, shown_size)),
            *(
                (provider.quota_window, shown_share(provider.quota_use), provider.pace)
                if provider.quota_bytes
                else (None, None, None)
            ),
            provider.base_url,
        ),
        as_json=as_json,
    )


@group.command("show", epilog="Example: livewell providers show fmp")
def show_provider(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show one provider."""
    found = run(ctx, lambda app: _one(app, name))
    show_one(found, as_json=as_json)


@group.command("set", epilog="Example: livewell providers set fmp quota.bytes='20 GB' quota.use=0.9")
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

    async def work(app: "Stores") -> bool:
        await _one(app, name)
        return await app.budgets.set_provider(name, wanted, reason=reason, actor=who())

    say(f"{name} changed" if run(ctx, work, as_owner=True) else f"{name} is so already")


async def _one(app: "Stores", name: str) -> "Provider":
    from livewell.budgets import UnknownProvider
    from livewell.cli.inputs import named

    return named(name, await app.budgets.list_providers(), UnknownProvider, "unknown provider", "providers")
