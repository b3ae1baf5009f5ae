"""A task as a user writes it, in a program or under `[task.NAME]` of `livewell.toml`."""

from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from livewell.kernel import parse_duration


def _read(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str):
        return parse_duration(value)
    raise ValueError("a duration is written as text, as '10 minutes'")


Duration = Annotated[timedelta, BeforeValidator(_read)]


class TaskDeclaration(BaseModel):
    """What is None keeps the database's default: every 10 to 15 minutes, 20 to 40 minutes after a failure."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str | None = None
    run: str | None = None
    every: Duration | None = None
    cron: str | None = None
    time_zone: str | None = None
    jitter: Duration | None = None
    backoff_min: Duration | None = None
    backoff_max: Duration | None = None
    lease: Duration | None = None
    time_limit: Duration | None = None
    late_after: Duration | None = None
    enabled: bool | None = None

    def fields(self) -> dict[str, Any]:
        """The fields that say something, as `apply_tasks` takes them."""
        return self.model_dump(mode="json", exclude_none=True)
