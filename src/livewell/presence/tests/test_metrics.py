"""What presence tells Prometheus."""

from prometheus_client import REGISTRY

from livewell.kernel import Database
from livewell.presence import PresenceGauges, PresenceStore, tell_recounted, tell_swept
from livewell.presence.tests.surface import PresenceSql


def sample(name: str) -> float:
    return REGISTRY.get_sample_value(name) or 0.0


async def test_gauges_count_who_is_there(presence: PresenceSql, database: Database) -> None:
    """Sessions, gateways, subscriptions and watched items, as they are at the moment of reading."""
    await presence.open((1, "anna"), (2, "bert"), gateway="g")
    await presence.subscribe((1, "A"), (2, "A"), (2, "B"))
    await PresenceGauges(PresenceStore(database)).run_once()
    names = ("sessions", "gateways", "subscriptions", "items")
    assert [sample(f"livewell_presence_{name}") for name in names] == [2, 1, 3, 2]


async def test_what_tasks_undid_is_counted(presence: PresenceSql) -> None:
    """Swept sessions and repaired counts add up; quiet runs add nothing."""
    swept, drifted = sample("livewell_presence_swept_total"), sample("livewell_presence_drifted_total")
    tell_swept({"swept": 3, "gateways_gone": 1})
    tell_recounted({"items_repaired": 1, "pairs_repaired": 2, "orphans_removed": 0})
    tell_swept(await presence.task("presence_sweep"))
    tell_recounted(await presence.task("presence_recount"))
    assert sample("livewell_presence_swept_total") - swept == 3
    assert sample("livewell_presence_drifted_total") - drifted == 3
