"""All settings as they were at one moment, typed.

What a process of Livewell's reads is an attribute named like the setting, with an underscore for the dot:
`worker.poll_interval` is `settings.worker_poll_interval`. Any setting is read by name with `get()`.
"""

from collections.abc import Iterable
from datetime import timedelta
from difflib import get_close_matches
from typing import Generic, Self, TypeVar

from livewell.kernel import MASK, Caller, Connection, mask
from livewell.settings.errors import UnknownSetting
from livewell.settings.store import SettingsStore
from livewell.settings.types import SettingValue, StoredValue

T = TypeVar("T")


class Named(Generic[T]):
    """A setting that is read by its name and type."""

    def __init__(self, name: str, kind: type[T]) -> None:
        self.name = name
        self.kind = kind

    def __get__(self, snapshot: "Settings", owner: type["Settings"]) -> T:
        value = snapshot.get(self.name)
        if not isinstance(value, self.kind):
            raise UnknownSetting(f"setting {self.name} is not of type {self.kind.__name__}")
        return value


class Settings:
    """A snapshot; it does not change, a `SettingsWatcher` holds the newest one."""

    worker_heartbeat_interval = Named("worker.heartbeat_interval", timedelta)
    worker_claim_batch = Named("worker.claim_batch", int)
    worker_concurrency = Named("worker.concurrency", int)
    worker_poll_interval = Named("worker.poll_interval", timedelta)
    schedule_poll_interval = Named("schedule.poll_interval", timedelta)
    live_recheck = Named("live.recheck", timedelta)
    live_dwell = Named("live.dwell", timedelta)
    live_connections_per_address = Named("live.connections_per_address", int)
    live_connections_per_user = Named("live.connections_per_user", int)
    presence_items_per_session = Named("presence.items_per_session", int)
    settings_poll_interval = Named("settings.poll_interval", timedelta)

    def __init__(self, stored: Iterable[StoredValue]) -> None:
        self.stored = {value.name: value for value in stored}
        for value in self.stored.values():
            if value.sensitive:
                mask(value.name)

    @classmethod
    async def read(cls, caller: "Caller | Connection") -> Self:
        """The settings as they are now, in one round trip."""
        return cls(await SettingsStore(caller).get_settings())

    def get(self, name: str) -> SettingValue:
        """The value of any setting, by its name."""
        if name not in self.stored:
            near = get_close_matches(name, self.stored, n=1)
            raise UnknownSetting(f"there is no setting {name}", fix=f"did you mean {near[0]}?" if near else None)
        return self.stored[name].value

    def feature(self, flag: str) -> bool:
        """Whether a feature is on: `feature("billing")` asks `features.billing_enabled`."""
        return self.get(f"features.{flag}_enabled") is True

    def changed_since(self, older: "Settings") -> frozenset[str]:
        """The names of the settings that differ, come or gone included."""
        names = self.stored.keys() | older.stored.keys()
        return frozenset(name for name in names if self.stored.get(name) != older.stored.get(name))

    def __repr__(self) -> str:
        shown = (f"{value.name}={MASK if value.sensitive else value.text}" for value in self.stored.values())
        return f"Settings({', '.join(shown)})"
