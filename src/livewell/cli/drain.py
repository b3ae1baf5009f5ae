"""`livewell jobs drain`: wait until nothing is waiting or running."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.options import Json, Kinds
from livewell.cli.output import console, counted, note, say, show_json
from livewell.cli.session import require_kinds, run
from livewell.kernel import shown_duration

if TYPE_CHECKING:
    from livewell.jobs import JobStore
    from livewell.stores import Stores

EXAMPLE = "Example: livewell jobs drain --kind report --timeout 5m"
LIVE = frozenset({"pending", "deferred", "retrying", "processing"})

_PAUSE = 0.2
_LINE_EVERY = 5.0


@dataclass(frozen=True, kw_only=True)
class Drained:
    """How a drain ended: what was done while it watched, what is left, and how long it took."""

    done: int
    left: int
    took: timedelta


def drain(
    ctx: typer.Context,
    kind: Kinds = None,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="DURATION", help="Give up, with exit code 1, after so long.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Wait until no job waits or runs. Jobs may still come in meanwhile."""
    from livewell.cli.inputs import duration

    limit = duration(timeout)

    async def work(app: "Stores") -> Drained:
        await require_kinds(app.jobs, kind)
        await _warn(app.jobs, kind)
        with _bar() as tell:
            return await _wait(app.jobs, kind, limit, tell)

    drained = run(ctx, work)
    if as_json:
        show_json(drained)
    else:
        say(f"{counted(drained.done, 'job')} done in {shown_duration(drained.took)}, {drained.left:,} left")
    if drained.left:
        from livewell.cli.errors import DrainTimedOut

        raise DrainTimedOut(
            f"{counted(drained.left, 'job is', 'jobs are')} still live after {timeout}",
            fix="livewell jobs stats; livewell workers; livewell kinds list",
        )


async def _wait(
    store: "JobStore", kinds: list[str] | None, limit: timedelta | None, tell: Callable[[int, int], None]
) -> Drained:
    """Look again and again; `done` is how far the number of live jobs has fallen from its highest."""
    began = time.monotonic()
    deadline = began + limit.total_seconds() if limit is not None else float("inf")
    most = 0
    while True:
        asked = time.monotonic()
        left = await _live(store, kinds)
        most = max(most, left)
        tell(most - left, most)
        now = time.monotonic()
        if left == 0 or now >= deadline:
            return Drained(done=most - left, left=left, took=timedelta(seconds=round(now - began, 3)))
        # Counting a long queue takes a while; four fifths of the time are left to the workers.
        await asyncio.sleep(min(max(_PAUSE, 4 * (now - asked)), max(0.0, deadline - now)))


async def _live(store: "JobStore", kinds: list[str] | None) -> int:
    counts = await store.job_counts()
    return sum(count.jobs for count in counts if count.state in LIVE and (not kinds or count.kind in kinds))


async def _warn(store: "JobStore", kinds: list[str] | None) -> None:
    """Say at once what the wait may be in vain for."""
    live = {count.kind for count in await store.job_counts() if count.state in LIVE}
    for kind in await store.list_kinds(sorted(live & set(kinds) if kinds else live)):
        if kind.workers == 0:
            note(f"no running worker handles {kind.kind} (start one: livewell worker MODULE:APP)")
        elif kind.paused_for_good:
            note(f"{kind.kind} is paused (livewell kinds resume {kind.kind})")


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """Done and left, rate and time to go; without a terminal a line now and then."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    err = console(stderr=True)
    last = time.monotonic()

    def line(done: int, most: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _LINE_EVERY:
            last = time.monotonic()
            note(f"{done:,} done, {most - done:,} left")

    if not err.is_terminal:
        yield line
        return
    columns = (
        TextColumn("draining"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("draining", total=None, rate="")

        def update(done: int, most: int) -> None:
            bar.update(task, completed=done, total=most, rate=f"{bar.tasks[0].speed or 0:,.0f}/s")

        yield update
