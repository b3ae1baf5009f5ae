"""The HTTP door: one ASGI application on one port, for viewers, programs and who operates it.

The room owns routes, what a request may bring, how facts are told over HTTP, and the bounds of connections. It decides
nothing: who somebody is and may see is asked of `access`, what is in an item of `live`.

Invariants. Every answer that is a refusal is a problem document with the code, the words and the fix of its fact. A
credential is read from the first frame or the header and from no address. A request that is not complete in time, a
client that does not read and a flood of pings end by themselves; what they held is given back.

How it fails. A database that is away is 503, or a `bye` to come back after. Mounted in an application of the user's,
the bounds of connections are the host's; what is in messages is still ours to bound.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.api.application import Api, application_with
    from livewell.api.door import ApiDoor
    from livewell.api.errors import AddressTaken, ApiError, InvalidRequest, NotAllowed
    from livewell.api.operating import Operating, operating_routes
    from livewell.api.protocol import Bounds
    from livewell.api.server import ApiServer
    from livewell.api.types import DoorOptions
else:
    __getattr__ = opened(__name__)

__all__ = [
    "AddressTaken",
    "Api",
    "ApiDoor",
    "ApiError",
    "ApiServer",
    "Bounds",
    "DoorOptions",
    "InvalidRequest",
    "NotAllowed",
    "Operating",
    "application_with",
    "operating_routes",
]
