"""Maintenance mode: nothing is claimed, while enqueue, upload and subscribe go on and workers finish what they hold.

Refusing uploads (`maintenance.refuse_uploads`) and refusing new jobs (`queue.enqueue_enabled`) are other switches.
"""

from dataclasses import dataclass
from datetime import datetime

from livewell.settings.store import SettingsStore

_ENABLED = "maintenance.enabled"


@dataclass(frozen=True, kw_only=True)
class MaintenanceStatus:
    """Whether maintenance mode is on, since when, and who switched it last."""

    enabled: bool
    changed_at: datetime
    changed_by: str


class Maintenance:
    """Begins and ends maintenance mode; each change is audited with its reason."""

    def __init__(self, store: SettingsStore) -> None:
        self._store = store

    async def begin(self, *, actor: str, reason: str) -> bool:
        """Stop claiming; False when it was on already."""
        return await self._store.set_setting(_ENABLED, value=True, actor=actor, reason=reason)

    async def end(self, *, actor: str, reason: str) -> bool:
        """Claim again; False when it was off already."""
        return await self._store.set_setting(_ENABLED, value=False, actor=actor, reason=reason)

    async def status(self) -> MaintenanceStatus:
        row = next(row for row in await self._store.list_settings() if row.name == _ENABLED)
        return MaintenanceStatus(enabled=row.value == "true", changed_at=row.updated_at, changed_by=row.updated_by)
