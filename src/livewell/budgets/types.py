"""What the budgets of this process speak in: ids, grants, settlements."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NewType
from uuid import UUID

BlockId = NewType("BlockId", UUID)
PermitOutcome = Literal["completed", "failed", "unsent"]


@dataclass(frozen=True, kw_only=True)
class Granted:
    """Permits given together; each is for one call that goes out within `send_within` of the moment they were asked."""

    block_id: BlockId
    permits: int
    api_key: str | None
    key_source: str | None
    send_within: timedelta
    lease: timedelta


@dataclass(frozen=True, kw_only=True)
class NotGranted:
    """Why nothing may start now, and when to ask again; None: when something else has ended."""

    reason: str
    retry_after: timedelta | None


@dataclass(frozen=True, kw_only=True)
class PermitSettlement:
    """What one permit turned out to cost; None is unknown, and what was reserved stays."""

    number: int
    outcome: PermitOutcome
    tokens: int | None = None
    bytes: int | None = None
