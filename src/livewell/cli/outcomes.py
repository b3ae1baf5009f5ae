"""`livewell jobs retry`, `cancel` and `ack`: acting on jobs by id, or on all dead letters in bounded batches."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.options import JobIds, Json, Kinds, Reason, as_id
from livewell.cli.output import counted, progress, say, show_json, show_table
from livewell.cli.session import require_kinds, run, who

if TYPE_CHECKING:
    from livewell.jobs import Changed, JobStore
    from livewell.stores import Stores

BATCH = 500

RETRY_EXAMPLE = "Example: livewell jobs retry --all-failed --kind report --reason 'provider is back'"
CANCEL_EXAMPLE = "Example: livewell jobs cancel 42 43 --reason 'ordered twice'"
ACK_EXAMPLE = "Example: livewell jobs ack 42 --reason 'known: the file was empty'"

AllFailed = Annotated[
    bool, typer.Option("--all-failed", help="Every dead letter that nobody has acknowledged, instead of ids.")
]


def retry(
    ctx: typer.Context,
    ids: JobIds = None,
    all_failed: AllFailed = False,
    kind: Kinds = None,
    reason: Reason = None,
    as_json: Json = False,
) -> None:
    """Give dead letters another life. They have all their retries again."""
    _require_one_way(ids, all_failed=all_failed, kind=kind)
    actor = who()

    async def work(app: "Stores") -> "list[Changed]":
        return await _change(app, ids, kind, lambda some: app.jobs.retry_jobs(some, reason=reason, actor=actor))

    _tell(run(ctx, work), done={"retried"}, as_json=as_json, named=bool(ids))


def ack(
    ctx: typer.Context,
    ids: JobIds = None,
    all_failed: AllFailed = False,
    kind: Kinds = None,
    reason: Reason = None,
    as_json: Json = False,
) -> None:
    """Mark dead letters as seen. Only then may retention drop them."""
    _require_one_way(ids, all_failed=all_failed, kind=kind)
    actor = who()

    async def work(app: "Stores") -> "list[Changed]":
        return await _change(app, ids, kind, lambda some: app.jobs.acknowledge_jobs(some, reason=reason, actor=actor))

    _tell(run(ctx, work), done={"acknowledged", "already_acknowledged"}, as_json=as_json, named=bool(ids))


def cancel(
    ctx: typer.Context,
    ids: Annotated[list[int], typer.Argument(metavar="ID…", parser=as_id, help="The jobs, by id.")],
    reason: Reason = None,
    as_json: Json = False,
) -> None:
    """Cancel jobs. Waiting ones end at once; a running one is told, and its handler is stopped."""
    actor = who()

    async def work(app: "Stores") -> "list[Changed]":
        return await _change(app, ids, None, lambda some: app.jobs.cancel_jobs(some, reason=reason, actor=actor))

    _tell(run(ctx, work), done={"cancelled", "told"}, as_json=as_json, named=True)


def _require_one_way(ids: Sequence[int] | None, *, all_failed: bool, kind: Sequence[str] | None) -> None:
    from livewell.cli.errors import Misused

    if bool(ids) == all_failed:
        raise Misused("name the jobs by id or say --all-failed", fix="one of the two")
    if kind and ids:
        raise Misused("--kind goes with --all-failed only", fix="leave it out, or leave the ids out")


async def _change(
    app: "Stores",
    ids: Sequence[int] | None,
    kinds: list[str] | None,
    change: "Callable[[Sequence[int]], Awaitable[list[Changed]]]",
) -> "list[Changed]":
    """Batch by batch: no call is long, and an interruption undoes nothing."""
    await require_kinds(app.jobs, kinds)
    total = len(ids) if ids else await _unseen(app.jobs, kinds)
    changed: list[Changed] = []
    with progress("changing") as done:
        async for batch in _named(ids) if ids else _dead_letters(app.jobs, kinds):
            changed += await change(batch)
            done(len(changed), max(total, len(changed)))
    return changed


async def _named(ids: Sequence[int]) -> AsyncIterator[Sequence[int]]:
    for first in range(0, len(ids), BATCH):
        yield ids[first : first + BATCH]


async def _dead_letters(store: "JobStore", kinds: list[str] | None) -> AsyncIterator[Sequence[int]]:
    """Dead letters nobody has acknowledged, newest first; what fails again meanwhile is not met a second time."""
    before: int | None = None
    while rows := await store.list_jobs(states=["failed"], kinds=kinds, before=before, limit=BATCH):
        before = rows[-1]["id"]
        unseen = [row["id"] for row in rows if row["acknowledged_at"] is None]
        if unseen:
            yield unseen


async def _unseen(store: "JobStore", kinds: list[str] | None) -> int:
    counts = await store.job_counts()
    return sum(count.jobs for count in counts if count.state == "failed" and (not kinds or count.kind in kinds))


def _tell(changed: "list[Changed]", *, done: set[str], as_json: bool, named: bool) -> None:
    """Show what became of each job; fail when some of those named were not to be changed."""
    if as_json:
        show_json(changed)
    elif named:
        show_table(("ID", "OUTCOME", "LIVE JOB"), [(job.job_id, job.outcome, job.live_job_id) for job in changed])
    else:
        for outcome, count in Counter(job.outcome for job in changed).items():
            say(f"{counted(count, 'job')} {outcome}")
        if not changed:
            say("there is no dead letter")
    left = [job for job in changed if job.outcome not in done]
    if left:
        from livewell.cli.errors import NotAllChanged

        raise NotAllChanged(
            f"{len(left)} of {counted(len(changed), 'job')} not changed: job {left[0].job_id} is {left[0].outcome}",
            fix=f"livewell jobs show {left[0].live_job_id or left[0].job_id}",
        )
