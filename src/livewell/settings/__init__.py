"""Settings: typed values in the database that change without a restart, feature flags, and maintenance mode.

The room owns the table `setting`. A row has a type (boolean, integer, number, duration, text, json), a value, the value
it was shipped with, bounds or choices, a meaning, and whether it is sensitive; a duration or number may have to stay
below another one (`worker.heartbeat_interval` below `worker.timeout`). Deciding functions of other rooms read it with
`setting_boolean`, `setting_integer`, `setting_number`, `setting_interval`, `setting_text` and `setting_json`.

Invariants. A value always fits its type, its bounds and the settings it is compared with. A change made through
`set_setting` or `reset_setting` is in the audit log, with who and why, in the same transaction; setting what is already
so changes and records nothing. A deployment never sets a tuned value back. A sensitive value leaves the database in
clear only for a service process: lists, logs, `repr`, error messages, notifications and the audit log show it masked.
Running processes hold a whole snapshot; they read again when notified on `livewell_settings`, and slowly in any case.

How it fails. A name that is not a setting is `settings.unknown` and says which was probably meant; a value that does
not fit is `settings.invalid_value` and says what would. Both leave everything as it was. When the database cannot be
reached, a process keeps the snapshot it has.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.settings.errors import InvalidSettingValue, UnknownSetting
    from livewell.settings.maintenance import Maintenance, MaintenanceStatus
    from livewell.settings.snapshot import Settings
    from livewell.settings.store import SettingsStore
    from livewell.settings.types import SettingRow, SettingType, SettingValue, StoredValue
    from livewell.settings.watcher import CHANNEL, SettingsWatcher
else:
    __getattr__ = opened(__name__)

__all__ = [
    "CHANNEL",
    "InvalidSettingValue",
    "Maintenance",
    "MaintenanceStatus",
    "SettingRow",
    "SettingType",
    "SettingValue",
    "Settings",
    "SettingsStore",
    "SettingsWatcher",
    "StoredValue",
    "UnknownSetting",
]
