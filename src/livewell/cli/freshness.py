"""`livewell freshness`: what viewers see now, and what they saw in the last hours."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from livewell.cli.options import Json
from livewell.cli.output import console, given, say, show_json, show_table, shown
from livewell.cli.session import run
from livewell.kernel import shown_duration, shown_number, shown_share, shown_size

if TYPE_CHECKING:
    from livewell.budgets import QuotaState
    from livewell.freshness import FreshnessFigures, FreshnessHour, RefreshPolicy, WatchedType
    from livewell.stores import Stores

EXAMPLE = "Example: livewell freshness --hours 48 --watch"
_PAUSE = 5.0
_BARS = "▁▂▃▄▅▆▇█"


class _Seen(NamedTuple):
    types: list[str]
    now: "list[WatchedType]"
    figures: "list[FreshnessFigures]"
    hours: "list[FreshnessHour]"
    policies: "list[RefreshPolicy]"
    quotas: "list[QuotaState]"


def freshness(
    ctx: typer.Context,
    hours: Annotated[int, typer.Option("--hours", min=1, max=720, help="So many hours back.")] = 24,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show it again every 5 seconds, until Ctrl-C.")] = False,
    wide: Annotated[bool, typer.Option("--wide", help="All figures, and the price of bytes by provider.")] = False,
    as_json: Json = False,
) -> None:
    """Show how fresh what viewers see is and was, by type: now, and in the last hours."""
    from livewell.cli.errors import Misused

    if watch and as_json:
        raise Misused("--watch and --json exclude each other", fix="give one of them")
    if watch:
        run(ctx, lambda app: _watch(app, hours, wide=wide))
        return
    seen = run(ctx, lambda app: _seen(app, hours))
    if as_json:
        show_json(seen._asdict())
    else:
        _show(seen, hours, wide=wide)


async def _watch(app: "Stores", hours: int, *, wide: bool) -> None:
    screen = console()
    while True:
        seen = await _seen(app, hours)
        if screen.is_terminal:
            screen.clear()
        _show(seen, hours, wide=wide)
        await asyncio.sleep(_PAUSE)


async def _seen(app: "Stores", hours: int) -> _Seen:
    since = datetime.now(UTC) - timedelta(hours=hours - 1)
    since = since.replace(minute=0, second=0, microsecond=0)
    return _Seen(
        types=[data_type.name for data_type in await app.registry.list_types()],
        now=await app.freshness.freshness_now(),
        figures=await app.freshness.freshness_figures(since=since),
        hours=await app.freshness.freshness_hours(since=since),
        policies=await app.freshness.refresh_policies(),
        quotas=await app.budgets.quota_states(),
    )


def _show(seen: _Seen, hours: int, *, wide: bool) -> None:
    _show_now(seen)
    if seen.figures:
        say("")
        _show_figures(seen, hours, wide=wide)
    if wide and seen.policies:
        say("")
        _show_policies(seen)


def _show_now(seen: _Seen) -> None:
    """A line for every type, also one that nobody looks at: a beginner sees that it is known."""
    watched = {watched_type.data_type: watched_type for watched_type in seen.now}
    show_table(
        ("TYPE (NOW)", "ITEMS LOOKED AT", "VIEWERS", "SEE FRESH DATA", "NO DATA YET", "OLDEST", "REFUSED", "FAILED"),
        [_now(name, watched.get(name)) for name in seen.types],
    )


def _now(name: str, watched: "WatchedType | None") -> tuple[object, ...]:
    if watched is None:
        return (name, 0, 0, *[None] * 5)
    return (
        *(name, watched.items, watched.viewers, _share(watched.viewers_within_ttl / max(watched.viewers, 1))),
        *(watched.missing, _seconds(watched.oldest), watched.refused, watched.failed),
    )


def _show_figures(seen: _Seen, hours: int, *, wide: bool) -> None:
    lone = {figures.data_type: figures.ok for figures in seen.figures if figures.audience == "lone"}
    columns = _WORDS | (_MORE_WORDS if wide else {})
    show_table(
        (f"TYPE (LAST {hours} H)", *columns, "BY HOUR"),
        [
            (
                figures.data_type or "all",
                *(show(figures, lone.get(figures.data_type)) for show in columns.values()),
                sparkline([hour.ok for hour in _hours_of(seen.hours, figures.data_type, hours)]),
            )
            for figures in seen.figures
            if figures.audience == "all"
        ],
    )


# What a newcomer asks: how long was it looked at, was it good, also for lone viewers, how long did somebody wait?
_WORDS: "dict[str, Callable[[FreshnessFigures, float | None], str | None]]" = {
    "LOOKED AT": lambda figures, _: _minutes(figures.viewer_minutes),
    "GOOD": lambda figures, _: _share(figures.ok),
    "GOOD FOR LONE VIEWERS": lambda _, lone: _share(lone),
    "LONGEST STALE (99 OF 100)": lambda figures, _: _minutes(figures.w99),
}
_MORE_WORDS: "dict[str, Callable[[FreshnessFigures, float | None], str | None]]" = {
    "WITHIN TTL": lambda figures, _: _share(figures.within_ttl),
    "AS AT THE SOURCE": lambda figures, _: _share(figures.fresh),
    "STALE (HALF)": lambda figures, _: _minutes(figures.w50),
    "OVER TTL (99 OF 100)": lambda figures, _: _minutes(figures.overdue99),
    "FETCHED UNCHANGED": lambda figures, _: _share(figures.unchanged),
    "GOOD BY SAMPLES": lambda figures, _: _sampled(figures),
}


def _show_policies(seen: _Seen) -> None:
    lasts = {quota.provider: quota for quota in seen.quotas}
    show_table(
        ("PROVIDER", "POLICY", "PRICE OF A MB", "BUCKET", "LASTS"),
        [
            (
                *(policy.provider, policy.policy, given(policy.price, _per_megabyte), _share(policy.bucket_share)),
                _lasts(lasts.get(policy.provider)),
            )
            for policy in seen.policies
        ],
    )


def _per_megabyte(price: float) -> str:
    return f"{shown_number(price * 1024**2)} viewer-minutes"


def _hours_of(seen: "list[FreshnessHour]", data_type: str | None, hours: int) -> "list[_Hour]":
    """One figure per hour up to this one; all types by their viewer-minutes."""
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    line = []
    for back in range(hours - 1, -1, -1):
        of_hour = [
            hour
            for hour in seen
            if hour.hour == now - timedelta(hours=back) and data_type in {None, hour.data_type} and hour.ok is not None
        ]
        minutes = sum(hour.viewer_minutes for hour in of_hour)
        good = sum(hour.viewer_minutes * (hour.ok or 0) for hour in of_hour)
        line.append(_Hour(good / minutes if minutes else None))
    return line


class _Hour(NamedTuple):
    ok: float | None


def sparkline(shares: "list[float | None]") -> str:
    """A bar per share, from none to all; a point where nobody looked."""
    return "".join("·" if share is None else _BARS[min(len(_BARS) - 1, int(share * len(_BARS)))] for share in shares)


def _share(share: float | None) -> str | None:
    return given(share, shown_share)


def _seconds(age: timedelta | None) -> str | None:
    return None if age is None else shown_duration(timedelta(seconds=round(age.total_seconds())))


def _minutes(minutes: float | None) -> str | None:
    return None if minutes is None else shown_duration(timedelta(seconds=round(60 * minutes, 1)))


def _sampled(figures: "FreshnessFigures") -> str | None:
    if figures.samples_ok is None or figures.samples_ok_error is None:
        return None
    return f"{shown_share(figures.samples_ok)} ± {shown_share(figures.samples_ok_error)}"


def _lasts(quota: "QuotaState | None") -> str:
    if quota is None:
        return "no quota"
    left = "" if quota.bucket_bytes is None else f", {shown_size(quota.bucket_bytes)} in the bucket"
    if quota.exhausted_at is None:
        return f"never exhausted{left}"
    return f"until {shown(quota.exhausted_at)}{left}"
