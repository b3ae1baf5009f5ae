"""`livewell jobs`: look at jobs and queue them; changing them is in `outcomes.py`, waiting for them in `drain.py`."""

from datetime import timedelta
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from livewell.cli import drain, outcomes
from livewell.cli.groups import listing
from livewell.cli.options import Before, Json, Kinds, as_id
from livewell.cli.output import counted, note, say, show_json, show_record, show_table, shown
from livewell.cli.session import require_kinds, run, run_application
from livewell.kernel import shown_duration

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.jobs import JobCount
    from livewell.stores import Stores

_MOST_SHOWN = 160
STATES = ("pending", "deferred", "retrying", "processing", "completed", "failed", "cancelled")

group = listing("Look at jobs, queue them, and act on them.")


@group.command("list", epilog="Example: livewell jobs list --state failed --kind report")
def list_jobs(
    ctx: typer.Context,
    state: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE", help=f"{', '.join(STATES)}; may be given several times."),
    ] = None,
    kind: Kinds = None,
    before: Before = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 50,
    as_json: Json = False,
) -> None:
    """List jobs, newest first, with the key of a refresh and the reason of what failed."""
    from livewell.cli.inputs import known

    states = known(state, STATES, "state")

    async def work(app: "Stores") -> list[dict[str, Any]]:
        await require_kinds(app.jobs, kind)
        return await app.jobs.list_jobs(states=states, kinds=kind, before=before, limit=limit)

    rows = [_as_shown(row) for row in run(ctx, work)]
    if as_json:
        show_json(rows)
        return
    fields = ("id", "state", "kind", "key", "priority", "due_at", "attempt", "worker", "finished_at", "reason")
    show_table(
        ("ID", "STATE", "KIND", "KEY", "PRIORITY", "DUE", "ATTEMPT", "WORKER", "FINISHED", "REASON"),
        [[_a_line(row[field]) for field in fields] for row in rows],
    )
    if len(rows) == limit:
        note(f"there may be more: --before {rows[-1]['id']}")


@group.command("show", epilog="Example: livewell jobs show 42")
def show_job(
    ctx: typer.Context,
    job_id: Annotated[int, typer.Argument(metavar="ID", parser=as_id, help="The job, by id.")],
    as_json: Json = False,
) -> None:
    """Show one job: payload, result or error, and its attempts."""

    async def work(app: "Stores") -> tuple[dict[str, Any], list[dict[str, Any]]]:
        return await app.jobs.show_job(job_id), await app.jobs.list_attempts(job_id)

    job, attempts = run(ctx, work)
    if as_json:
        show_json({**_as_shown(job), "attempts": attempts})
        return
    show_record({name: value for name, value in _as_shown(job).items() if name != "stored_state"})
    if attempts:
        say("")
        show_table(
            ("ATTEMPT", "OUTCOME", "STARTED", "TOOK", "WORKER", "REASON"),
            [
                (
                    attempt["attempt"],
                    attempt["outcome"],
                    attempt["started_at"],
                    _took(attempt),
                    attempt["worker"],
                    _why(attempt),
                )
                for attempt in attempts
            ],
        )


@group.command("enqueue", epilog="""Example: livewell jobs enqueue report '{"month": "2026-11"}' --priority 9""")
def enqueue(
    ctx: typer.Context,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What it is.")],
    payload: Annotated[
        str, typer.Argument(metavar="PAYLOAD", help="A JSON object, or @FILE, or - for standard input.")
    ],
    priority: Annotated[int | None, typer.Option("--priority", help="Higher goes first within its group.")] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="Not before then, as 2026-11-20T18:30.")
    ] = None,
    delay: Annotated[
        str | None, typer.Option("--delay", metavar="DURATION", help="Not before so long, as 10m.")
    ] = None,
    category: Annotated[str | None, typer.Option("--category", help="A word to sort by.")] = None,
    dedupe_key: Annotated[str | None, typer.Option("--dedupe-key", help="At most one live job has it.")] = None,
    serial_key: Annotated[str | None, typer.Option("--serial-key", help="Its jobs run one after the other.")] = None,
    endpoint: Annotated[str | None, typer.Option("--endpoint", help="The endpoint it draws on.")] = None,
    estimated_bytes: Annotated[
        int | None, typer.Option("--estimated-bytes", min=0, help="What it may transfer.")
    ] = None,
    estimated_tokens: Annotated[int | None, typer.Option("--estimated-tokens", min=0, help="What it may use.")] = None,
    retries: Annotated[int | None, typer.Option("--retries", min=0, help="How often it is tried again.")] = None,
    on_duplicate: Annotated[
        str, typer.Option("--on-duplicate", help="A live job has the key: keep it, replace it, or raise_priority.")
    ] = "keep",
    as_json: Json = False,
) -> None:
    """Queue one job. Its payload is checked against the kind's schema first."""
    from livewell.cli import inputs
    from livewell.cli.errors import Misused
    from livewell.jobs import Enqueued, OnDuplicate

    inputs.known([on_duplicate], list(OnDuplicate), "choice for --on-duplicate")
    if at and delay:
        raise Misused("--at and --delay exclude each other", fix="give one of them")
    content, due, later = inputs.payload(payload), inputs.moment(at), inputs.duration(delay)

    async def work(app: "Livewell") -> Enqueued:
        return await app.enqueue(
            kind,
            content,
            priority=priority,
            scheduled_at=due,
            delay=later,
            category=category,
            dedupe_key=dedupe_key,
            serial_key=serial_key,
            endpoint=endpoint,
            estimated_bytes=estimated_bytes,
            estimated_tokens=estimated_tokens,
            retries=retries,
            on_duplicate=OnDuplicate(on_duplicate),
        )

    answer = run_application(ctx, work, log_level="error")
    if as_json:
        show_json(answer._asdict())
    else:
        say(f"job {answer.job_id} {answer.outcome}")
    if not answer.handled:
        note(f"no running worker handles {kind} (start one: livewell worker MODULE:APP)")


@group.command("stats", epilog="Example: livewell jobs stats --finished")
def stats(
    ctx: typer.Context,
    kind: Kinds = None,
    finished: Annotated[
        bool, typer.Option("--finished", help="Count completed and cancelled jobs as well, which is slower.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Count jobs by kind and state. Dead letters are `failed`, or `acknowledged` once somebody has seen them."""

    async def work(app: "Stores") -> "list[JobCount]":
        await require_kinds(app.jobs, kind)
        return await app.jobs.job_counts(finished=finished)

    counts = [count for count in run(ctx, work) if not kind or count.kind in kind]
    if as_json:
        show_json(counts)
        return
    _show_counts(counts)


def _show_counts(counts: "list[JobCount]") -> None:
    """One line per kind, one column per state that occurs."""
    states = [state for state in (*STATES, "acknowledged") if any(count.state == state for count in counts)]
    kinds = sorted({(count.queue_group or "", count.kind) for count in counts})
    by_kind = {(count.kind, count.state): count.jobs for count in counts}
    oldest = {count.kind: shown(count.oldest_due_at) for count in counts if count.oldest_due_at is not None}
    show_table(
        ("GROUP", "KIND", *(state.upper() for state in states), "OLDEST DUE"),
        [
            (queue_group, kind, *(by_kind.get((kind, state), 0) for state in states), oldest.get(kind))
            for queue_group, kind in kinds
        ],
    )
    say(f"{counted(sum(count.jobs for count in counts), 'job')}")


def _as_shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its state as people see it under `state`, and that of the table, where it is known, beside it."""
    fields = dict(row)
    shown_state, stored = fields.pop("shown_state"), fields.pop("state", None)
    renamed = {"id": fields.pop("id"), "state": shown_state, **fields}
    return renamed if stored is None else {**renamed, "stored_state": stored}


def _a_line(value: Any) -> Any:
    """What a row has room for; all of it is in `jobs show`."""
    return shorten(value, _MOST_SHOWN, placeholder=" …") if isinstance(value, str) else value


def _took(attempt: dict[str, Any]) -> str | None:
    if attempt["started_at"] is None or attempt["ended_at"] is None:
        return None
    took: timedelta = attempt["ended_at"] - attempt["started_at"]
    return shown_duration(took)


def _why(attempt: dict[str, Any]) -> str:
    error = attempt["error"]
    if not error:
        return shown(attempt["reason"])
    return f"{error.get('type', 'error')}: {error.get('message', '')}"


group.command("retry", epilog=outcomes.RETRY_EXAMPLE)(outcomes.retry)
group.command("cancel", epilog=outcomes.CANCEL_EXAMPLE)(outcomes.cancel)
group.command("ack", epilog=outcomes.ACK_EXAMPLE)(outcomes.ack)
group.command("drain", epilog=drain.EXAMPLE)(drain.drain)
