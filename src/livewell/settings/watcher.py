"""The watcher keeps the newest settings in a running process: woken by a notification, and by a slow poll in any case.

It is an agent with a `wake` event. Give its `on_notify` and `on_reconnect` to a listener on `livewell_settings`:

    service.add(watcher, wake=watcher.wake)
    service.add_component(Listener(options, [CHANNEL], watcher.on_notify, watcher.on_reconnect))

Events: `settings_changed` with the names that changed, never their values.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta

from livewell.kernel import Caller, Logger
from livewell.settings.snapshot import Settings

CHANNEL = "livewell_settings"

log = Logger("livewell.settings")


class SettingsWatcher:
    """Holds the settings of a process; `current` is always a whole snapshot."""

    name = "settings_watcher"

    def __init__(self, caller: Caller, current: Settings) -> None:
        self._caller = caller
        self._subscribers: list[Callable[[Settings], None]] = []
        self.current = current
        self.wake = asyncio.Event()

    @classmethod
    async def begin(cls, caller: Caller) -> "SettingsWatcher":
        """Read the settings once, so that there is never a time without them."""
        return cls(caller, await Settings.read(caller))

    @property
    def interval(self) -> timedelta:
        return self.current.settings_poll_interval

    async def run_once(self) -> frozenset[str]:
        """Read again; tell the subscribers when something changed, and answer what."""
        newest = await Settings.read(self._caller)
        changed = newest.changed_since(self.current)
        if changed:
            self.current = newest
            log.info("settings_changed", names=sorted(changed))
            for tell in self._subscribers:
                tell(newest)
        return changed

    def subscribe(self, tell: Callable[[Settings], None]) -> None:
        """Call `tell` with the new snapshot after every change."""
        self._subscribers.append(tell)

    def on_notify(self, channel: str, _payload: str) -> None:
        """What a listener calls; other channels are none of the watcher's business."""
        if channel == CHANNEL:
            self.wake.set()

    def on_reconnect(self) -> None:
        """A change may have been told while nobody listened."""
        self.wake.set()
