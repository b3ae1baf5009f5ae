"""Who looks at what: sessions, subscriptions, and the number of distinct users at each item.

The room owns `gateway`, `session`, `subscription` and `viewer`, the sources that presence is read from, and the hourly
figures. A session is one connection of a user; a gateway holds many of them and keeps them alive by renewing one row.
Freshness is told of every change in one call: an item's viewers, and who just came and asks for it, at once or when
it has dwelt for a moment.

Invariants. An item's viewers are the distinct users with a live subscription to it, after any interleaving: each user
is counted by reference in `viewer`, and every call takes locks in one order: sessions by id, items by id, users at
items by (item, user). Nobody waits long for what somebody else has locked in an open transaction: it is `busy`, alone.
A session belongs to the gateway that resumed it last, and calls that name a gateway touch only what is still its own.
Only a client moves `last_seen`. What was not renewed for `presence.gone_after`, of gateways `live.gone_after`, is gone
at that moment, whether or not the sweeper has come to it: renewing says so, and nothing of it comes back by halves.
Nobody but the program, or the verified claims of the request, says who a user is. Subscribing writes presence and items
only; figures are sampled by a task.

How it fails. A client that dies is swept away after five minutes, a gateway after 45 seconds, so many sessions a run.
A gateway that was cut off longer than that opens its sessions again under a new name (`GatewayKeeper`), but for those
that are elsewhere by now. A source that fails or falls silent keeps its last known viewers for five minutes and warns.
Every night all is counted anew; what had drifted is repaired and warned about, and there should be nothing. A batch
with a type or key that is wrong is refused whole; limits and sessions that are gone are answered row by row.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.presence.declaration import PresenceSection, SourceDeclaration
    from livewell.presence.errors import (
        GatewayGone,
        InvalidPresence,
        InvalidSource,
        NotYourSession,
        PresenceBusy,
        PresenceError,
        SessionGone,
        TooMany,
    )
    from livewell.presence.gateway_keeper import GatewayKeeper
    from livewell.presence.metrics import PresenceGauges, tell_recounted, tell_swept
    from livewell.presence.store import PresenceStore
    from livewell.presence.types import (
        GatewayPace,
        Item,
        OpenOutcome,
        PresenceSource,
        PresenceTotals,
        Resumed,
        Session,
        Subscribed,
        SubscribeOutcome,
        UnsubscribeOutcome,
        WatchedItem,
    )
    from livewell.presence.watching import Presence
else:
    __getattr__ = opened(__name__)

__all__ = [
    "GatewayGone",
    "GatewayKeeper",
    "GatewayPace",
    "InvalidPresence",
    "InvalidSource",
    "Item",
    "NotYourSession",
    "OpenOutcome",
    "Presence",
    "PresenceBusy",
    "PresenceError",
    "PresenceGauges",
    "PresenceSection",
    "PresenceSource",
    "PresenceStore",
    "PresenceTotals",
    "Resumed",
    "Session",
    "SessionGone",
    "SourceDeclaration",
    "SubscribeOutcome",
    "Subscribed",
    "TooMany",
    "UnsubscribeOutcome",
    "WatchedItem",
    "tell_recounted",
    "tell_swept",
]
