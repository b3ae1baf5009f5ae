"""All settings as they were at one moment, typed.

A setting of Livewell's own is an attribute named like it, with an underscore for the dot: `worker.timeout` is
`settings.worker_timeout`. Others are read by name with `get()`.
"""

from collections.abc import Iterable
from datetime import timedelta
from difflib import get_close_matches
from typing import Generic, Self, TypeVar, overload

from livewell.kernel import MASK, Caller, Connection, mask
from livewell.settings.errors import UnknownSetting
from livewell.settings.store import SettingsStore
from livewell.settings.types import SettingValue, StoredValue

T = TypeVar("T")


class Named(Generic[T]):
    """A setting known to Livewell by name and type."""

    def __init__(self, name: str, kind: type[T]) -> None:
        self.name = name
        self.kind = kind

    @overload
    def __get__(self, snapshot: None, owner: type["Settings"]) -> Self: ...

    @overload
    def __get__(self, snapshot: "Settings", owner: type["Settings"]) -> T: ...

    def __get__(self, snapshot: "Settings | None", owner: type["Settings"]) -> Self | T:
        if snapshot is None:
            return self
        value = snapshot.get(self.name)
        if not isinstance(value, self.kind):
            raise UnknownSetting(f"setting {self.name} is not of type {self.kind.__name__}")
        return value


class Settings:
    """A snapshot; it does not change, a `SettingsWatcher` holds the newest one."""

    worker_timeout = Named("worker.timeout", timedelta)
    worker_heartbeat_interval = Named("worker.heartbeat_interval", timedelta)
    worker_reclaim_jitter_max = Named("worker.reclaim_jitter_max", timedelta)
    worker_claim_batch = Named("worker.claim_batch", int)
    worker_concurrency = Named("worker.concurrency", int)
    worker_poll_interval = Named("worker.poll_interval", timedelta)
    queue_backpressure_delay = Named("queue.backpressure_delay", timedelta)
    queue_enqueue_enabled = Named("queue.enqueue_enabled", bool)
    jobs_payload_bytes = Named("jobs.payload_bytes", int)
    jobs_result_bytes = Named("jobs.result_bytes", int)
    jobs_retention_completed = Named("jobs.retention.completed", timedelta)
    jobs_retention_cancelled = Named("jobs.retention.cancelled", timedelta)
    jobs_retention_failed = Named("jobs.retention.failed", timedelta)
    audit_seal_interval = Named("audit.seal_interval", timedelta)
    budgets_permit_lease = Named("budgets.permit_lease", timedelta)
    quota_ledger_retention = Named("quota.ledger_retention", timedelta)
    quota_sample_share = Named("quota.sample_share", float)
    freshness_max_items = Named("freshness.max_items", int)
    freshness_max_time = Named("freshness.max_time", timedelta)
    freshness_queued_again = Named("freshness.queued_again", timedelta)
    freshness_check_again = Named("freshness.check_again", timedelta)
    freshness_horizon = Named("freshness.horizon", timedelta)
    freshness_mean_stay = Named("freshness.mean_stay", timedelta)
    freshness_sweep_every = Named("freshness.sweep_every", timedelta)
    presence_checks_per_minute = Named("presence.checks_per_minute", int)
    presence_heartbeat_interval = Named("presence.heartbeat_interval", timedelta)
    presence_gone_after = Named("presence.gone_after", timedelta)
    presence_items_per_session = Named("presence.items_per_session", int)
    presence_sessions_per_user = Named("presence.sessions_per_user", int)
    presence_hours_retention = Named("presence.hours_retention", timedelta)
    schedule_poll_interval = Named("schedule.poll_interval", timedelta)
    schedule_history_retention = Named("schedule.history_retention", timedelta)
    warnings_retention = Named("warnings.retention", timedelta)
    freshness_scheduled_keys = Named("freshness.scheduled_keys", int)
    freshness_scheduled_depth = Named("freshness.scheduled_depth", int)
    freshness_prefetch_items = Named("freshness.prefetch_items", int)
    freshness_prefetch_bucket = Named("freshness.prefetch_bucket", float)
    freshness_prefetch_payoff = Named("freshness.prefetch_payoff", float)
    freshness_prefetch_again = Named("freshness.prefetch_again", timedelta)
    freshness_sample_share = Named("freshness.sample_share", float)
    freshness_figures_items = Named("freshness.figures_items", int)
    freshness_failed_again_max = Named("freshness.failed_again_max", timedelta)
    freshness_gone_again_max = Named("freshness.gone_again_max", timedelta)
    freshness_asked_per_user = Named("freshness.asked_per_user", int)
    freshness_new_keys_share = Named("freshness.new_keys_share", float)
    fetching_keys_per_read = Named("fetching.keys_per_read", int)
    fetching_rows_per_key = Named("fetching.rows_per_key", int)
    freshness_figures_retention = Named("freshness.figures_retention", timedelta)
    presence_counted_items = Named("presence.counted_items", int)
    presence_anonymous_viewers = Named("presence.anonymous_viewers", int)
    settings_poll_interval = Named("settings.poll_interval", timedelta)
    maintenance_enabled = Named("maintenance.enabled", bool)
    maintenance_refuse_uploads = Named("maintenance.refuse_uploads", bool)
    features_usage_tracking_enabled = Named("features.usage_tracking_enabled", bool)
    features_billing_enabled = Named("features.billing_enabled", bool)
    features_upgrade_prompts_enabled = Named("features.upgrade_prompts_enabled", bool)
    priority_on_subscribe = Named("priority.on_subscribe", int)
    quota_low_share = Named("quota.low_share", float)

    def __init__(self, stored: Iterable[StoredValue]) -> None:
        self.stored = {one.name: one for one in stored}
        for one in self.stored.values():
            if one.sensitive:
                mask(one.name)

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
        shown = (f"{one.name}={MASK if one.sensitive else one.text}" for one in self.stored.values())
        return f"Settings({', '.join(shown)})"
