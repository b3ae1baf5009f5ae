"""How a pretend provider is set up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from livewell.simulator.documents import WRITERS
from livewell.simulator.errors import InvalidFault, InvalidLimit
from livewell.simulator.faults import EVERY_ENDPOINT, Fault
from livewell.simulator.limits import Limit

CHAT = "chat"
ENDPOINTS = (*WRITERS, CHAT)


class KeyPlace(StrEnum):
    """Where a caller puts its API key: `?apikey=…`, or `Authorization: Bearer …` or `X-Api-Key: …`."""

    QUERY = "query"
    HEADER = "header"


class UnknownSymbol(StrEnum):
    """What is answered to a symbol that does not exist."""

    EMPTY = "empty"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, kw_only=True)
class SimulatorOptions:
    """`port` 0 takes any; `latency` is how long an answer takes at the least; `keep_calls` bounds the log of calls."""

    port: int = 0
    seed: int = 1
    symbols: int | Sequence[str] = 500
    rhythm: Mapping[str, timedelta] = field(default_factory=dict)
    limits: Mapping[str, Limit] = field(default_factory=dict)
    faults: Sequence[Fault] = ()
    latency: timedelta = timedelta()
    api_keys: frozenset[str] = frozenset()
    key_place: KeyPlace = KeyPlace.QUERY
    unknown: UnknownSymbol = UnknownSymbol.EMPTY
    gzip: bool = True
    conditional: bool = True
    keep_calls: int = 100_000

    def __post_init__(self) -> None:
        for endpoint in self.limits:
            require_endpoint(endpoint)
        for fault in self.faults:
            require_endpoint_of(fault)


def require_endpoint(endpoint: str) -> None:
    if endpoint not in ENDPOINTS:
        raise InvalidLimit(f"there is no endpoint {endpoint!r}", fix=f"one of {', '.join(ENDPOINTS)}")


def require_endpoint_of(fault: Fault) -> None:
    if fault.endpoint not in {*ENDPOINTS, EVERY_ENDPOINT}:
        raise InvalidFault(f"there is no endpoint {fault.endpoint!r}", fix=f"* or one of {', '.join(ENDPOINTS)}")
