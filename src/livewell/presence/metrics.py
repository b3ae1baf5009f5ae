"""What presence tells Prometheus: gauges read from the database by `PresenceGauges`, and what its tasks undid.

Events: `sessions_swept`, `viewers_repaired`.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from prometheus_client import Counter, Gauge

from livewell.kernel import Logger
from livewell.presence.store import PresenceStore

SESSIONS = Gauge("livewell_presence_sessions", "Sessions that are open.")
GATEWAYS = Gauge("livewell_presence_gateways", "Gateways that keep sessions alive.")
SUBSCRIPTIONS = Gauge("livewell_presence_subscriptions", "Items that sessions look at, one for each session.")
ITEMS = Gauge("livewell_presence_items", "Items that somebody looks at.")
SWEPT = Counter("livewell_presence_swept", "Sessions that were undone because nobody renewed them.")
DRIFTED = Counter(
    "livewell_presence_drifted", "Counts of viewers that were found wrong and repaired; there should be none."
)

log = Logger("livewell.presence")


class PresenceGauges:
    """An agent that counts who is there now and then."""

    name = "presence_gauges"
    interval = timedelta(seconds=30)

    def __init__(self, store: PresenceStore) -> None:
        self._store = store

    async def run_once(self) -> None:
        totals = await self._store.totals()
        SESSIONS.set(totals.sessions)
        GATEWAYS.set(totals.gateways)
        SUBSCRIPTIONS.set(totals.subscriptions)
        ITEMS.set(totals.items)


def tell_swept(result: Mapping[str, Any]) -> None:
    """Log and count what a run of `presence_sweep` undid."""
    if result["swept"]:
        SWEPT.inc(result["swept"])
        log.info("sessions_swept", sessions=result["swept"], gateways=result["gateways_gone"])


def tell_recounted(result: Mapping[str, Any]) -> None:
    """Log and count what a run of `presence_recount` had to repair."""
    repaired = result["items_repaired"] + result["pairs_repaired"] + result["orphans_removed"]
    if repaired:
        DRIFTED.inc(repaired)
        log.warning("viewers_repaired", items=result["items_repaired"], pairs=result["pairs_repaired"])
