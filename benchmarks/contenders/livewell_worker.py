"""A Livewell worker whose jobs last a while and write down when they start; it is there to be killed."""

import asyncio
import json
import os
import time
from pathlib import Path

import uvloop
from pydantic import BaseModel

from livewell import Livewell, WorkerOptions
from livewell.kernel import configure_logs


class Slow(BaseModel):
    """What a slow job carries."""

    i: int


def append(history: Path, line: str) -> None:
    with history.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


async def main() -> None:
    configure_logs(level="error")
    plan = json.loads(os.environ["BENCH_PLAN"])
    history = Path(plan["history"])

    async def slow(job: Slow) -> None:
        append(history, json.dumps({"job": job.i, "process": os.getpid(), "at": time.monotonic()}))
        await asyncio.sleep(plan["work"])

    app = Livewell(os.environ["BENCH_DSN"])
    app.job("noop")(slow)
    async with app:
        await app.run_worker(WorkerOptions(concurrency=plan["slots"]))


if __name__ == "__main__":
    uvloop.run(main())
