"""Live: a gateway that tells the people who look at items what is in them, as soon as it has changed.

The room owns the connections of viewers: who they are, what each looks at, and what each has been told. It owns no
table: what is true is in the database, and a gateway that dies takes nothing with it. It is told of changes by notices,
asks what there is, and reads rows with the rights of those who look (`access`), once for all whom the database cannot
tell apart. What travels is written down in docs/reference/live.md.

Invariants. Nobody is told a row that the database would not show to the claims of their token. Whoever stays connected
ends with what the database has, whatever was lost in between: versions are compared by inequality after every LISTEN
and now and then always. A notice is a hint, and a forged one costs one look at an item in a second. A client holds one
slot for each item, so memory is bounded by what is looked at, not by how slowly it is read. Looking is presence:
whoever may not see an item does not count as its viewer.

How it fails. A database that is away leaves clients with what they have; when it is back everything is compared. A
gateway that dies is given up after `live.gone_after`; its clients resume at another, with the versions they hold.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.live.client import LiveClient
    from livewell.live.desk import Desk
    from livewell.live.errors import BadFrame, GatewayClosing, LiveError, NotVisible, TooMuchAsked
    from livewell.live.frames import (
        LARGEST_MESSAGE,
        PROTOCOL,
        ClientHello,
        CloseCode,
        Wanted,
        bye,
        read_message,
        session_of,
        wanted_of,
    )
    from livewell.live.gateway import Gateway
    from livewell.live.types import GatewayOptions, ItemTold
else:
    __getattr__ = opened(__name__)

__all__ = [
    "LARGEST_MESSAGE",
    "PROTOCOL",
    "BadFrame",
    "ClientHello",
    "CloseCode",
    "Desk",
    "Gateway",
    "GatewayClosing",
    "GatewayOptions",
    "ItemTold",
    "LiveClient",
    "LiveError",
    "NotVisible",
    "TooMuchAsked",
    "Wanted",
    "bye",
    "read_message",
    "session_of",
    "wanted_of",
]
