"""The settings in the database, one method per named statement."""

from livewell.kernel import Caller, Connection, Queries
from livewell.settings.types import SettingRow, SettingType, SettingValue, StoredValue, written

QUERIES = Queries.of("livewell.settings")


class SettingsStore:
    """Reads and changes settings through any caller: a pool, a line, or a connection inside a transaction."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def get_settings(self) -> list[StoredValue]:
        """Every setting in clear, for processes."""
        rows = await self._caller.fetch(QUERIES["get_settings"])
        return [
            StoredValue(
                name=row["name"],
                type=SettingType(row["type"]),
                text=row["value"],
                duration=row["duration"],
                sensitive=row["sensitive"],
            )
            for row in rows
        ]

    async def list_settings(self) -> list[SettingRow]:
        """Every setting for people, sensitive values masked."""
        rows = await self._caller.fetch(QUERIES["list_settings"])
        return [SettingRow(**{**row, "type": SettingType(row["type"])}) for row in rows]

    async def set_setting(
        self, name: str, value: SettingValue, *, actor: str | None = None, reason: str | None = None
    ) -> bool:
        """Change one setting, checked and audited; False when it already was so."""
        return bool(await self._caller.fetchval(QUERIES["set_setting"], name, written(value), actor, reason))

    async def reset_setting(self, name: str, *, actor: str | None = None, reason: str | None = None) -> bool:
        """Set one setting back to the value it was shipped with; False when it already was so."""
        return bool(await self._caller.fetchval(QUERIES["reset_setting"], name, actor, reason))
