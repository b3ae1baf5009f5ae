"""`livewell watch`: why an item is as it is."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.options import Json
from livewell.cli.output import counted, say, show_json, shown, shown_bytes, shown_duration
from livewell.cli.session import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from livewell.freshness import ExplainedItem

EXAMPLE = "Example: livewell watch AAPL --type quote"

_DECISIONS = {
    "fresh": "is fresh",
    "queued": "is stale, and its refresh would be queued",
    "waiting": "is stale and worth a refresh, but others come first",
    "not_worth": "is stale, but a refresh is not worth its bytes at today's price",
    "gate_closed": "is stale, but its gate is closed",
    "check_failed": "could not be checked, and was refreshed for that once in this TTL",
    "endpoint_closed": "is stale, but its endpoint or provider is not active",
    "quota_closed": "is stale, but its provider's quota is used up",
    "queue_full": "is stale, but too many jobs wait at its endpoint",
}


def watch(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key, as AAPL.")],
    data_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only this data type; all by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain why an item is as it is: who looks, how old it is, what was decided and what comes next."""
    from livewell.cli.errors import NothingWatched

    items = run(ctx, lambda app: app.freshness.explain_item(key, data_type))
    if as_json:
        show_json(items)
        return
    if not items:
        what = f"{data_type} {key}" if data_type else key
        raise NothingWatched(f"nobody has looked at {what}, and no walk has reached it", fix="livewell types list")
    for number, item in enumerate(items):
        if number:
            say("")
        for line in _lines(item, datetime.now(UTC)):
            say(line)


def _lines(item: "ExplainedItem", now: datetime) -> "Iterator[str]":
    yield f"{item.data_type} {item.key} {_DECISIONS.get(item.decision_now, item.decision_now)}."
    yield f"  viewers   {_viewers(item)}"
    yield f"  age       {_age(item, now)}"
    if item.error is not None:
        yield f"  check     failed: {item.error}"
    yield f"  gate      {_gate(item)}"
    yield f"  learned   {_learned(item)}"
    yield f"  worth     {_worth(item)}"
    yield f"  decided   {_decided(item)}"
    yield f"  outcome   {_outcome(item)}"
    yield f"  next      {_next(item)}"


def _viewers(item: "ExplainedItem") -> str:
    if not item.viewers:
        return f"nobody looks now; {item.viewers_average:.2g} on average"
    since = f" since {shown(item.watched_since)}" if item.watched_since else ""
    return f"{counted(item.viewers, 'viewer')}{since}; {item.viewers_average:.2g} on average"


def _age(item: "ExplainedItem", now: datetime) -> str:
    if item.newest is None:
        return f"there is no data; its TTL is {shown_duration(item.ttl)}"
    age = timedelta(seconds=round((now - item.newest).total_seconds()))
    return f"{shown_duration(age)} of {shown_duration(item.ttl)}"


def _gate(item: "ExplainedItem") -> str:
    if item.gate_opens_at is not None:
        return f"{item.gate}: closed until {shown(item.gate_opens_at)}"
    return f"{item.gate}: open" if item.gate != "always" else "always open"


def _learned(item: "ExplainedItem") -> str:
    every = f"changes about every {_minutes(1 / item.change_rate)} (λ {item.change_rate:.3g} per minute)"
    size = "" if item.bytes is None else f", {shown_bytes(round(item.bytes))} a fetch"
    return f"{every}, {item.changes} of {counted(item.fetches, 'fetch', 'fetches')} had changed{size}"


def _worth(item: "ExplainedItem") -> str:
    if item.policy != "value":
        return f"policy {item.policy}: priority is the number of viewers"
    score = "not scored while it is fresh" if item.score is None else f"score {item.score:.3g} minutes of viewers"
    price = "" if item.price is None else f" at a price of {item.price:.3g} per byte"
    return f"policy value: {score}{price}"


def _decided(item: "ExplainedItem") -> str:
    if item.decision is None:
        return "never looked at"
    return f"{item.decision.replace('_', ' ')}, {shown(item.decided_at)}"


def _outcome(item: "ExplainedItem") -> str:
    if item.last_outcome is None:
        return "never fetched"
    return f"{item.last_outcome}, {shown(item.last_outcome_at)}"


def _next(item: "ExplainedItem") -> str:
    if item.job_id is not None:
        return (
            f"job {item.job_id} is {item.job_state} at priority {item.job_priority} ({item.job_cause}),"
            f" due {shown(item.job_due_at)}"
        )
    if item.viewers:
        return f"looked at {shown(item.due_at)}"
    if item.next_walk_at is not None:
        return f"nobody looks; its type is walked {shown(item.next_walk_at)}"
    return "nothing, until somebody looks at it"


def _minutes(minutes: float) -> str:
    return shown_duration(timedelta(seconds=max(1, round(min(minutes, 1e8) * 60))))
