"""`livewell explain`: why an item is as it is."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.options import Json
from livewell.cli.output import counted, say, show_json, shown
from livewell.cli.session import run
from livewell.kernel import shown_duration, shown_number, shown_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from livewell.freshness import ExplainedItem, RefreshOutcome

_MEGABYTE = 1024**2
EXAMPLE = "Example: livewell explain quote AAPL"

_DECISIONS = {
    "fresh": "is fresh",
    "queued": "is stale, and its refresh would be queued",
    "waiting": "is stale and worth a refresh, but others come first",
    "not_worth": "is stale, but a refresh is not worth its bytes at today's price",
    "gate_closed": "is stale, but its gate holds refreshes back for now",
    "check_failed": "could not be checked, and was refreshed for that once in this TTL",
    "refresh_failed": "is stale, but its refresh failed or found nothing, and is not tried again yet",
    "endpoint_closed": "is stale, but its endpoint or provider is not active",
    "quota_closed": "is stale, but its provider's quota is used up",
    "queue_full": "is stale, but too many jobs wait at its endpoint",
}


_DECIDED = {
    "gate_closed": "held back by its gate",
    "endpoint_closed": "its endpoint or provider was not active",
    "quota_closed": "the quota was used up",
}


def explain(
    ctx: typer.Context,
    data_type: Annotated[str, typer.Argument(metavar="TYPE", help="The data type, as quote.")],
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key, as AAPL.")],
    as_json: Json = False,
) -> None:
    """Explain why an item is as it is: who looks, how old it is, what its last fetch came to and why, what is next."""
    from livewell.cli.errors import NothingWatched

    items = run(ctx, lambda app: app.freshness.explain_item(data_type, key))
    if not items:
        raise NothingWatched(
            f"nobody has looked at {data_type} {key}, and no walk has reached it",
            fix=f"livewell tail {data_type} {key}",
        )
    (item,) = items
    if as_json:
        show_json(item)
        return
    for line in lines(item, datetime.now(UTC)):
        say(line)


def lines(item: "ExplainedItem", now: datetime) -> "Iterator[str]":
    """What is said of an item, in sentences."""
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
    for number, outcome in enumerate(item.recent):
        yield f"  {'recent' if number == 0 else '':<10}{_recent(outcome)}"
    yield f"  next      {_next(item)}"
    if item.blocked_by is not None:
        until = f", until {shown(item.blocked_until)}" if item.blocked_until else ""
        yield f"  blocked   {item.blocked_by}{until}"


def _viewers(item: "ExplainedItem") -> str:
    if not item.viewers:
        return f"nobody looks now; {shown_number(item.viewers_average)} on average"
    since = f" since {shown(item.watched_since)}" if item.watched_since else ""
    return f"{counted(item.viewers, 'viewer')}{since}; {shown_number(item.viewers_average)} on average"


def _age(item: "ExplainedItem", now: datetime) -> str:
    if item.newest is None:
        return f"there is no data; its TTL is {shown_duration(item.ttl)}"
    age = timedelta(seconds=round((now - item.newest).total_seconds()))
    return f"{shown_duration(age)} of {shown_duration(item.ttl)}"


def _gate(item: "ExplainedItem") -> str:
    if item.gate_opens_at is not None:
        return f"{item.gate}: holds refreshes back until {shown(item.gate_opens_at)}"
    return f"{item.gate}: lets refreshes through" if item.gate != "always" else "none: refreshed at any time"


def _learned(item: "ExplainedItem") -> str:
    every = f"changes about every {_minutes(1 / item.change_rate)}"
    size = "" if item.bytes is None else f", {shown_size(round(item.bytes))} a fetch"
    return f"{every}, {item.changes} of {counted(item.fetches, 'fetch', 'fetches')} had changed{size}"


def _worth(item: "ExplainedItem") -> str:
    if item.policy != "value":
        return f"policy {item.policy}: priority is the number of viewers"
    score = (
        "not scored while it is fresh" if item.score is None else f"score {shown_number(item.score)} minutes of viewers"
    )
    price = "" if item.price is None else f" at a price of {shown_number(item.price * _MEGABYTE)} per MB"
    return f"policy value: {score}{price}"


def _decided(item: "ExplainedItem") -> str:
    if item.decision is None:
        return "never looked at"
    return f"{_DECIDED.get(item.decision, item.decision.replace('_', ' '))}, {shown(item.decided_at)}"


def _outcome(item: "ExplainedItem") -> str:
    if item.last_outcome is None:
        return "never fetched"
    why = f": {item.last_reason}" if item.last_reason else ""
    in_a_row = f"; {item.failed_refreshes} refreshes in a row have failed" if item.failed_refreshes > 1 else ""
    return f"{item.last_outcome}, {shown(item.last_outcome_at)}{why}{in_a_row}"


def _recent(outcome: "RefreshOutcome") -> str:
    took = "" if outcome.started_at is None else f" after {shown_duration(outcome.finished_at - outcome.started_at)}"
    by = f" by {outcome.worker}" if outcome.worker else ""
    why = f": {outcome.reason}" if outcome.reason else ""
    if outcome.job_id is None:
        return f"put: {outcome.outcome}, {shown(outcome.finished_at)}{why}"
    return f"job {outcome.job_id} {outcome.outcome}, {shown(outcome.finished_at)}{took}{by}{why}"


def _next(item: "ExplainedItem") -> str:
    if item.job_id is not None:
        tried = f" after {counted(item.job_attempt, 'attempt')}" if item.job_attempt else ""
        return (
            f"job {item.job_id} is {item.job_state}{tried} at priority {item.job_priority} ({item.job_cause}),"
            f" due {shown(item.job_due_at)}"
        )
    if item.viewers:
        what = "tried again" if item.failed_refreshes else "looked at"
        return f"{what} {shown(item.due_at)}"
    if item.decision_now == "refresh_failed":
        return f"not tried before {shown(item.due_at)}, whoever looks"
    if item.next_walk_at is not None:
        return f"nobody looks; its type is walked {shown(item.next_walk_at)}"
    return "nothing, until somebody looks at it"


def _minutes(minutes: float) -> str:
    return shown_duration(timedelta(seconds=max(1, round(min(minutes, 1e8) * 60))))
