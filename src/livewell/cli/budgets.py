"""`livewell budgets`: what may be spent, and how much of it is."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.options import Json
from livewell.cli.output import console, given, say, show_json, show_table, shown
from livewell.cli.session import run
from livewell.kernel import shown_share, shown_size

if TYPE_CHECKING:
    from livewell.budgets import BudgetState, QuotaState
    from livewell.stores import Stores

EXAMPLE = "Example: livewell budgets --watch"
_PAUSE = 2.0
# A breaker that is closed in an engineer's words lets calls through: to everybody else that is the opposite.
BREAKER_WORDS = {"closed": "fine", "open": "tripped", "half_open": "probing"}


def budgets(
    ctx: typer.Context,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show it again every 2 seconds, until Ctrl-C.")] = False,
    as_json: Json = False,
) -> None:
    """Show what is used of every limit and quota, what is in flight, when it opens, and how long it lasts."""
    from livewell.cli.errors import Misused

    if watch and as_json:
        raise Misused("--watch and --json exclude each other", fix="give one of them")
    if watch:
        run(ctx, _watch)
        return
    limiters, quotas = run(ctx, _figures)
    if as_json:
        show_json({"limits": limiters, "quotas": quotas})
    else:
        _show(limiters, quotas)


async def _watch(app: "Stores") -> None:
    screen = console()
    while True:
        limiters, quotas = await _figures(app)
        if screen.is_terminal:
            screen.clear()
        _show(limiters, quotas)
        await asyncio.sleep(_PAUSE)


async def _figures(app: "Stores") -> "tuple[list[BudgetState], list[QuotaState]]":
    return await app.budgets.budget_state(), await app.budgets.quota_states()


def _show(limiters: "list[BudgetState]", quotas: "list[QuotaState]") -> None:
    show_table(
        ("ENDPOINT", "STATE", "MINUTE", "HOUR", "TOKENS/MIN", "TOKENS/H", "IN FLIGHT", "WAITING", "OPENS", "BREAKER"),
        [
            (
                *(limiter.name, limiter.state),
                _used(limiter.requests_last_minute, limiter.requests_per_minute),
                _used(limiter.requests_last_hour, limiter.requests_per_hour),
                _used(limiter.tokens_last_minute, limiter.tokens_per_minute),
                _used(limiter.tokens_last_hour, limiter.tokens_per_hour),
                _used(limiter.in_flight, limiter.concurrent),
                *(limiter.waiting, _opens(limiter), _breaker(limiter)),
            )
            for limiter in limiters
        ],
    )
    if quotas:
        say("")
        show_table(
            ("PROVIDER", "USED", "IN FLIGHT", "OF", "SHARE", "SCHEDULED WORK", "LASTS"),
            [
                (
                    *(quota.provider, shown_size(quota.used_bytes), shown_size(quota.in_flight_bytes)),
                    *(given(quota.allowed_bytes, shown_size), given(quota.share, shown_share)),
                    *("runs" if quota.open_for_scheduled else "waits", _lasts(quota)),
                )
                for quota in quotas
            ],
        )


def _used(used: int, allowed: int | None) -> str:
    return f"{used:,} of {allowed:,}" if allowed is not None else f"{used:,}"


def _opens(limiter: "BudgetState") -> str:
    if limiter.closed_for_good:
        return f"when resumed ({limiter.closed_reason})"
    if limiter.opens_at is None:
        return "open"
    reason = f" ({limiter.closed_reason})" if limiter.closed_reason else ""
    return f"{shown(limiter.opens_at)}{reason}"


def _breaker(limiter: "BudgetState") -> str:
    until = f" until {shown(limiter.breaker_until)}" if limiter.breaker == "open" and limiter.breaker_until else ""
    return f"{BREAKER_WORDS.get(limiter.breaker, limiter.breaker)}{until}"


def _lasts(quota: "QuotaState") -> str:
    if not quota.open and quota.opens_at is not None:
        return f"used up until {shown(quota.opens_at)}"
    return "never exhausted" if quota.exhausted_at is None else f"until {shown(quota.exhausted_at)}"
