"""The producer of the demonstration: queues a mixed batch ten times a second and says what was acknowledged."""

import asyncio
import random
import signal
import sys
from itertools import count

from pydantic_core import to_json

from livewell.demo.jobs import ACCOUNT, FLAKY, REPORT, app
from livewell.demo.processes import end_with_parent
from livewell.jobs import JobRequest
from livewell.kernel import LivewellError, configure_logs, wait_for_any

_PAUSE = 0.1


async def produce() -> None:
    stop = asyncio.Event()
    for wanted in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(wanted, stop.set)
    async with app:
        for number in count():
            try:
                answers = await app.enqueue_many(_batch(number))
            except LivewellError as error:
                _print({"event": "enqueue_refused", "line": str(error)})
            else:
                kept = sum(answer.outcome == "kept" for answer in answers)
                _print({"event": "acknowledged", "ids": [answer.job_id for answer in answers], "kept": kept})
            await wait_for_any(stop, timeout=_PAUSE)
            if stop.is_set():
                return


def _batch(number: int) -> list[JobRequest]:
    """A call, one or two transfers, and now and then a report, which may be one that waits already."""
    jobs = [JobRequest(kind=FLAKY, payload={"number": number})]
    for _ in range(random.randint(1, 2)):
        account = random.randrange(20)
        payload = {"account": account, "amount": random.randint(-500, 500)}
        jobs.append(JobRequest(kind=ACCOUNT, payload=payload, serial_key=f"demo/account/{account}"))
    if random.getrandbits(1):
        month = f"2026-{random.randint(1, 12):02}"
        jobs.append(JobRequest(kind=REPORT, payload={"month": month}, dedupe_key=f"demo/report/{month}"))
    return jobs


def _print(content: dict[str, object]) -> None:
    sys.stdout.write(f"{to_json(content).decode()}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    configure_logs(level="error")
    end_with_parent()
    asyncio.run(produce())
