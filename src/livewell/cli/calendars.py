"""`livewell calendars`: when exchanges are open, and which keys are whose."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json, Reason
from livewell.cli.output import counted, say, show_json, show_list
from livewell.cli.session import run, who

if TYPE_CHECKING:
    from livewell.stores import Stores

group = listing("Show and refresh when exchanges are in session.")


@group.command("list", epilog="Example: livewell calendars list")
def list_exchanges(ctx: typer.Context, as_json: Json = False) -> None:
    """List exchanges: whose keys are theirs, until when they are known, and whether they are in session."""
    exchanges = run(ctx, lambda app: app.registry.list_exchanges())
    show_list(
        exchanges,
        ("EXCHANGE", "KEYS", "KNOWN UNTIL", "IN SESSION", "CHANGES"),
        lambda exchange: (
            exchange.code,
            [suffix or "all others" for suffix in exchange.suffixes],
            exchange.known_until,
            exchange.open,
            exchange.changes_at,
        ),
        as_json=as_json,
    )


@group.command("refresh", epilog="Example: livewell calendars refresh --exchange XNYS")
def refresh(
    ctx: typer.Context,
    exchange: Annotated[
        list[str] | None,
        typer.Option("--exchange", metavar="CODE", help="Only this one; may be given several times. Else all in use."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a year of sessions now. The task `market_calendar` does it every day."""
    from livewell.cli.errors import CalendarsMissing
    from livewell.registry import CalendarKeeper

    async def work(app: "Stores") -> dict[str, Any]:
        keeper = CalendarKeeper(app.registry)
        return await (keeper.keep(exchange) if exchange else keeper.run_once())

    answer = run(ctx, work, log_level="error")
    if as_json:
        show_json(answer)
    else:
        say(f"{counted(answer['sessions_changed'], 'session')} new or gone")
    if answer["missing"]:
        raise CalendarsMissing(
            f"the sessions of {', '.join(answer['missing'])} could not be had: their gates hold nothing back",
            fix="pip install 'livewell[market]', and name exchanges by their MIC, as XNYS",
        )


@group.command("rule", epilog="Example: livewell calendars rule .SW XSWX")
def set_rule(
    ctx: typer.Context,
    suffix: Annotated[str, typer.Argument(metavar="SUFFIX", help="How keys end, as .SW; '' for all others.")],
    exchange: Annotated[
        str | None, typer.Argument(metavar="CODE", help="The exchange; the rule goes if left out.")
    ] = None,
    reason: Reason = None,
) -> None:
    """Say which exchange keys with a suffix belong to. Only for the owner of the schema."""
    changed = run(
        ctx, lambda app: app.registry.set_exchange_rule(suffix, exchange, reason=reason, actor=who()), as_owner=True
    )
    what = f"keys with {suffix}" if suffix else "all other keys"
    whose = f"are of {exchange}" if exchange else "have no rule"
    say(f"{what} {whose}{'' if changed else ' already'}")
