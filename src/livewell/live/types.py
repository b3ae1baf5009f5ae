"""What a gateway is told, and how it is doing."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Self

from livewell.settings import Settings


@dataclass(frozen=True, kw_only=True)
class GatewayOptions:
    """How a gateway keeps its clients, and what it gives up on.

    `compare_every` is how often all versions are compared although notices are heard, `compare_unheard_every` while
    they are not. A client that takes nothing for `slow_after` is cut off; one whose token has ended has `token_grace`
    to send another. All rights are looked at anew every `recheck_every`; who looks for less than `dwell` spends
    nothing. When the gateway stops, its clients leave within `drain_within`, and come back elsewhere by and by.
    """

    compare_every: timedelta = timedelta(seconds=30)
    compare_unheard_every: timedelta = timedelta(seconds=1)
    ping_every: timedelta = timedelta(seconds=20)
    slow_after: timedelta = timedelta(seconds=20)
    token_grace: timedelta = timedelta(seconds=25)
    drain_within: timedelta = timedelta(seconds=5)
    doubt_lasts: timedelta = timedelta(seconds=1)
    recheck_every: timedelta = timedelta(seconds=60)
    dwell: timedelta = timedelta(milliseconds=500)
    connections_per_address: int = 1000
    connections_per_user: int = 50
    items_per_client: int = 1000

    def patient_for(self, slow_after: timedelta) -> Self:
        """The same, with another patience for clients that take nothing."""
        return replace(self, slow_after=slow_after)

    def following(self, settings: Settings) -> Self:
        """The same, with what people may set as it is set now."""
        return replace(
            self,
            recheck_every=settings.live_recheck,
            dwell=settings.live_dwell,
            connections_per_address=settings.live_connections_per_address,
            connections_per_user=settings.live_connections_per_user,
            items_per_client=settings.presence_items_per_session,
        )


@dataclass(frozen=True, kw_only=True)
class ItemTold:
    """What is stored of an item, as one who may see it is told; ages in milliseconds."""

    version: str
    value: str | None
    age: int | None
    fresh: int | None
    state: str
    waiting_for: str | None
    until: int | None
