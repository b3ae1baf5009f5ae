"""What is wrong now, with its reason: what a live picture shows first."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from livewell.kernel import SurvivedWarning, shown_text

if TYPE_CHECKING:
    from livewell.budgets import BudgetState, QuotaState

# A warning is about now for this long after it was last given.
_LATELY = timedelta(minutes=2)
_FETCHING = "fetching."
_SHOWN = 6
_LATE_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One thing that is wrong; a warning knows when it was last so, and how often in its hour.

    Where the reason has a figure that grows, `known_by` says what stays the same of it.
    """

    what: str
    why: str
    known_by: str | None = None
    at: datetime | None = None
    times: int = 1

    @property
    def line(self) -> str:
        at = f"{self.at:%H:%M:%S}  " if self.at else ""
        return shown_text(f"{at}{self.what}: {self.why}") + (f" (×{self.times:,})" if self.times > 1 else "")


def troubles_of(
    *,
    budgets: Iterable["BudgetState"] = (),
    quotas: Iterable["QuotaState"] = (),
    late: Sequence[Mapping[str, Any]] = (),
    warnings: Iterable[SurvivedWarning] = (),
) -> list[Trouble]:
    """What stops everything first, then what was warned about, the newest first."""
    found = [Trouble(what=f"task {task['task']}", why=_late(task), known_by="late") for task in late[:_LATE_SHOWN]]
    if len(late) > _LATE_SHOWN:
        found.append(Trouble(what="tasks", why=f"{len(late) - _LATE_SHOWN} more are late", known_by="late"))
    found += [Trouble(what=budget.name, why=why) for budget in budgets if (why := _stopped(budget)) is not None]
    found += [
        Trouble(what=f"quota of {quota.provider}", why=f"used up{_until(quota.opens_at)}")
        for quota in quotas
        if not quota.open
    ]
    found += [
        Trouble(
            what=warning.subject or warning.code,
            why=warning.message,
            at=warning.last_at.astimezone(UTC),
            times=warning.warnings,
        )
        for warning in warnings
    ]
    return found


def present(
    warnings: Iterable[SurvivedWarning], *, now: datetime | None, failing: Collection[str]
) -> list[SurvivedWarning]:
    """Those that are about now: given lately, or the last reason of a type of which something still fails."""
    found: list[SurvivedWarning] = []
    for warning in warnings:
        told = any(other.subject == warning.subject and other.code.startswith(_FETCHING) for other in found)
        is_reason = warning.subject in failing and warning.code.startswith(_FETCHING) and not told
        if is_reason or now is None or warning.last_at > now - _LATELY:
            found.append(warning)
    return found[:_SHOWN]


def _stopped(endpoint: "BudgetState") -> str | None:
    """Why nothing is sent there; that a limit is reached for a moment is no trouble."""
    if endpoint.state != "active":
        return f"nothing is sent: it is {endpoint.state}"
    if endpoint.breaker == "open":
        return f"nothing is sent after repeated failures{_until(endpoint.breaker_until)}"
    if endpoint.closed_for_good:
        return f"nothing is sent until it is resumed ({endpoint.closed_reason})"
    if endpoint.closed_reason is not None:
        return f"nothing is sent{_until(endpoint.opens_at)} ({endpoint.closed_reason})"
    return None


def _until(moment: datetime | None) -> str:
    return "" if moment is None else f" until {moment.astimezone(UTC):%H:%M:%S}"


def _late(task: Mapping[str, Any]) -> str:
    since = "it never succeeded" if task["last_success_at"] is None else f"late by {task['late_by_seconds']} s"
    error = task["last_error"] or {}
    return f"{since}: {error.get('message', 'it failed')}" if error else f"{since}: does a checker run?"
