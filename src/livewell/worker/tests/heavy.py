"""Plain handlers at the top of a module, where a process finds them. They wait for pipes, never for time."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from livewell import OffLoopContext, Reschedule


class Sum(BaseModel):
    numbers: list[int]


class Deadlock(Exception):
    sqlstate = "40P01"


class Misfortune(LookupError):
    """One that cannot travel: it wants two arguments, and keeps one."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"no {what} in {where}")


def add(job: Sum) -> dict[str, int]:
    return {"sum": sum(job.numbers), "pid": os.getpid()}


def introduce(job: dict[str, Any], ctx: OffLoopContext) -> Any:
    if job.get("again") and ctx.attempt == 1:
        return Reschedule(timedelta(milliseconds=1), "not yet")
    return {"job": ctx.job_id, "attempt": ctx.attempt, "key": ctx.idempotency_key, "stopped": ctx.is_stopped()}


def hold(job: dict[str, Any]) -> dict[str, int]:
    """Say in one pipe that it has begun, and wait for a word in the other."""
    Path(job["begun"]).write_text(str(os.getpid()))
    return {"heard": len(Path(job["go"]).read_text()), "pid": os.getpid()}


def fail(job: dict[str, Any]) -> object:
    match job["how"]:
        case "raise":
            raise Misfortune("luck", "town")
        case "exit":
            raise SystemExit(3)
        case "stop":
            raise StopIteration("enough")
        case "deadlock":
            raise Deadlock("deadlock detected")
        case "die":
            os._exit(7)
        case _:
            return open(os.devnull)  # noqa: PTH123 - what no process can send back
