"""What is kept of an exception: enough to see what went wrong and whether it is the same as last time, and no more."""

import hashlib
import traceback
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from livewell.jobs import ClaimedJob
from livewell.kernel import Contended

_CONTENDED = {"40001", "40P01"}
_MESSAGE_LIMIT = 2000
_FRAMES_SHOWN = 5


def describe(error: BaseException, job: ClaimedJob, *, worker: str, started_at: datetime) -> dict[str, Any]:
    """Structured details of a failed attempt."""
    frames = frames_of(error)
    digest = hashlib.sha256("\n".join([type(error).__qualname__, *frames]).encode()).hexdigest()[:16]
    return {
        "type": f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins."),
        "message": text_of(error)[:_MESSAGE_LIMIT],
        "traceback_digest": digest,
        "frames": frames[-_FRAMES_SHOWN:],
        "attempt": job.attempt,
        "worker": worker,
        "started_at": started_at.isoformat(),
        "ended_at": datetime.now(UTC).isoformat(),
    }


def frames_of(error: BaseException) -> list[str]:
    """Where it was raised, step by step; of one that was raised elsewhere, what was told of it."""
    told = getattr(error, "frames", None)
    if isinstance(told, tuple):
        return list(told)
    return [
        f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]


def text_of(error: BaseException) -> str:
    """What an exception says, as text that JSON in PostgreSQL can hold, even when it cannot say it."""
    try:
        said = str(error) or type(error).__name__
    except Exception as unable:  # noqa: BLE001 - an exception that cannot be shown is still one that happened
        said = f"({type(unable).__name__} while it was shown)"
    return said.replace("\0", "\\0").encode(errors="backslashreplace").decode()


def is_contention(error: BaseException) -> bool:
    """A deadlock or serialization failure, from whichever driver the handler uses: not the job's fault."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, Contended) or getattr(seen, "sqlstate", None) in _CONTENDED:
            return True
        seen = seen.__cause__
    return False
