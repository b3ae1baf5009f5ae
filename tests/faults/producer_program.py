"""A producer process of a run: queues jobs of mixed kinds, and asks again with the same keys until it is answered."""

import asyncio
import random
import signal
import sys
import time
from typing import Any

from livewell import Livewell
from livewell.jobs import Enqueued, JobRequest, OnDuplicate
from livewell.kernel import LivewellError, configure_logs
from tests.faults.history import Notebook
from tests.faults.plan import LONGEST_JOB, Plan

_LARGEST_BATCH = 4
_SERIAL_KEYS = 5
_PAUSE_AFTER_FAILURE = 0.1


def main() -> int:
    plan = Plan.read()
    configure_logs()
    return asyncio.run(_produce(plan, Notebook(plan.folder, plan.name)))


async def _produce(plan: Plan, book: Notebook) -> int:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    chance = random.Random(f"{plan.seed}/{plan.name}")
    number = 0
    async with Livewell(options=plan.options) as app:
        book.note("producing")
        while not stop.is_set():
            began = time.monotonic()
            batch = [_request(plan, chance, number + n) for n in range(chance.randint(1, _LARGEST_BATCH))]
            number += len(batch)
            await _insist(app, batch, _choice(plan, chance), book)
            await asyncio.sleep(max(0.0, len(batch) / plan.rate - (time.monotonic() - began)))
    book.note("producer_done", offered=number)
    return 0


def _request(plan: Plan, chance: random.Random, number: int) -> JobRequest:
    (kind,) = chance.choices(list(plan.mix), list(plan.mix.values()))
    key = f"{plan.name}/{number}" if not plan.hot_keys else f"hot/{chance.randrange(plan.hot_keys)}"
    serial_key = f"{plan.name}/{chance.randrange(_SERIAL_KEYS)}" if kind == "serial" else None
    return JobRequest(
        kind="slow" if kind == "long" else kind,
        payload=_payload(kind, chance),
        priority=chance.randint(1, 9),
        dedupe_key=key,
        serial_key=serial_key,
    )


def _payload(kind: str, chance: random.Random) -> dict[str, Any]:
    match kind:
        case "slow":
            return {"seconds": chance.uniform(0.1, 0.4)}
        case "long" | "greedy":
            return {"seconds": LONGEST_JOB.total_seconds()}
        case "serial" | "capped":
            return {"seconds": chance.uniform(0.01, 0.08)}
        case "crossing" | "serializable":
            return {"seconds": 0.01, "rows": chance.sample(range(1, 7), 3)}
        case "ordering":
            return {"seconds": 1.0}
        case _:
            return {"seconds": 0.0}


def _choice(plan: Plan, chance: random.Random) -> OnDuplicate:
    return chance.choice(list(OnDuplicate)) if plan.hot_keys else OnDuplicate.KEEP


async def _insist(app: Livewell, batch: list[JobRequest], on_duplicate: OnDuplicate, book: Notebook) -> None:
    """Offer a batch until it is answered: an unknown outcome is asked again, with the same keys."""
    book.note("offered", keys=[request.dedupe_key for request in batch])
    while (answers := await _offer(app, batch, on_duplicate, book)) is None:
        await asyncio.sleep(_PAUSE_AFTER_FAILURE)
    for request, answer in zip(batch, answers, strict=True):
        book.note("acknowledged", job=answer.job_id, key=request.dedupe_key, kind=request.kind, outcome=answer.outcome)


async def _offer(
    app: Livewell, batch: list[JobRequest], on_duplicate: OnDuplicate, book: Notebook
) -> list[Enqueued] | None:
    began = time.monotonic()
    try:
        return await app.enqueue_many(batch, on_duplicate=on_duplicate)
    except LivewellError as error:
        keys = [request.dedupe_key for request in batch]
        seconds = time.monotonic() - began
        book.note("unanswered", keys=keys, code=error.code, why=str(error), seconds=seconds)
        return None


if __name__ == "__main__":
    sys.exit(main())
