"""A Livewell worker whose jobs last a while and write down when they start; it is there to be killed."""

import asyncio
import json
import os
import time
from datetime import timedelta
from pathlib import Path

import uvloop
from pydantic import BaseModel


class Slow(BaseModel):
    """What a slow job carries."""

    i: int


def append(history: Path, line: str) -> None:
    with history.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


async def main() -> None:
    from livewell import Livewell  # noqa: PLC0415 - see contenders/livewell.py

    plan = json.loads(os.environ["BENCH_PLAN"])
    history = Path(plan["history"])

    async def slow(payload: Slow) -> None:
        start = {"job": payload.i, "process": os.getpid(), "at": time.monotonic()}
        append(history, json.dumps(start))
        await asyncio.sleep(plan["work"])

    async with Livewell(database_url=os.environ["BENCH_DSN"]) as app:
        app.job("noop", lease=timedelta(seconds=plan["lease"]))(slow)
        await app.worker(slots=plan["slots"], rescue_every=timedelta(seconds=plan["tick"])).run()


if __name__ == "__main__":
    uvloop.run(main())
