"""What is due, what is stale, and what is worth its bytes: items, the checker, and the policies it chooses by.

Owns `item`, one row per data type and key that somebody looks at or looked at, with what was learned of it. Every
check moves `due_at`, so that a tick costs what is due and nothing starves. An item has at most one live refresh: its
dedupe key is `refresh/<type>/<key>`. A check that fails makes its item stale, at most once per TTL, and stops no
other.

A refresh becomes a job in one place (`queue_refreshes`) and reaches its item in one place when it ends, whatever the
outcome (`end_refreshes`): called with what was fetched, or by the rows of jobs that ended without an answer
(`refresh_jobs_ended`), because jobs knows no items. So an item says why: what its last refresh came to, with the
reason, how many in a row have failed for good, and so when it is tried again. Such a dead letter needs no person, and
is acknowledged as it is made. A refresh whose last viewer has left is let go before it is sent (`let_refreshes_go`),
in the transaction of the leaving, which waits for nobody's job: jobs are locked before items everywhere else. One that
has failed keeps its next try.

The last few outcomes of each item, with job, worker and times, lie beside it (`item_outcomes`): completed refreshes are
dropped within the hour, and nothing here reads them.

Scheduled types are walked key by key (`scheduled_walk`): what found no headroom is where the next run goes on. What
viewers see is counted each minute (`freshness_hour`), and a share of the bytes goes to items drawn at random
(`sample`), because what the checker chooses to fetch says little of the rest.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.freshness.errors import FreshnessError, InvalidKey, UnknownType
    from livewell.freshness.metrics import FreshnessGauges
    from livewell.freshness.store import FreshnessStore
    from livewell.freshness.types import (
        ExplainedItem,
        FreshnessFigures,
        FreshnessHour,
        ItemState,
        RefreshOutcome,
        RefreshPolicy,
        WatchedType,
    )
else:
    __getattr__ = opened(__name__)

__all__ = [
    "ExplainedItem",
    "FreshnessError",
    "FreshnessFigures",
    "FreshnessGauges",
    "FreshnessHour",
    "FreshnessStore",
    "InvalidKey",
    "ItemState",
    "RefreshOutcome",
    "RefreshPolicy",
    "UnknownType",
    "WatchedType",
]
