"""What was odd and survived, as SQL functions of every room record it: counted by hour, code and subject."""

from dataclasses import dataclass
from datetime import datetime

from livewell.kernel.database import Caller
from livewell.kernel.queries import QUERIES


@dataclass(frozen=True, kw_only=True)
class SurvivedWarning:
    """One code about one subject in one hour; the message is the last of them."""

    hour: datetime
    code: str
    subject: str
    warnings: int
    message: str
    first_at: datetime
    last_at: datetime


async def list_warnings(
    caller: Caller, *, since: datetime | None = None, code: str | None = None, limit: int = 1000
) -> list[SurvivedWarning]:
    """What was warned about since a time, a day by default, the newest first; `code` may also be a room."""
    return [SurvivedWarning(**row) for row in await caller.fetch(QUERIES["list_warnings"], since, code, limit)]
