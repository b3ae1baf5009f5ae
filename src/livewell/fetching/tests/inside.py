"""What attacks from outside the room look at inside it: its client, its reader and its rules of addresses."""

from livewell.fetching.addresses import CheckedResolver, Destinations, check_address
from livewell.fetching.client import CallLimits, Reply, Request
from livewell.fetching.errors import ForbiddenAddress
from livewell.fetching.judge import read_document
from livewell.fetching.types import Refused

__all__ = [
    "CallLimits",
    "CheckedResolver",
    "Destinations",
    "ForbiddenAddress",
    "Refused",
    "Reply",
    "Request",
    "check_address",
    "read_document",
]
