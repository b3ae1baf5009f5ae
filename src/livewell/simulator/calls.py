"""What the pretend provider saw: every call, and per endpoint how many, how large, how fast one after the other."""

from collections import Counter, deque
from dataclasses import dataclass

from livewell.simulator.limits import Limit, Limiter


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call that is over; `status` is None when no answer was begun, bytes are those of the socket."""

    number: int
    arrived: float
    ended: float
    endpoint: str
    method: str
    path: str
    keys: tuple[str, ...]
    api_key: str | None
    status: int | None
    bytes_in: int
    bytes_out: int
    fault: str | None
    over_limit: bool
    tokens: int


@dataclass(frozen=True, kw_only=True)
class EndpointFigures:
    """One endpoint in figures; `worst_window` is the most calls that any window of the limit's length ever had."""

    endpoint: str
    calls: int
    statuses: dict[str, int]
    unanswered: int
    faults: dict[str, int]
    bytes_in: int
    bytes_out: int
    tokens: int
    limit: int | None
    worst_window: int
    over_limit: int
    in_flight: int
    most_in_flight: int


class _Tally:
    """Counts of one endpoint."""

    def __init__(self) -> None:
        self.calls = self.unanswered = self.bytes_in = self.bytes_out = self.tokens = 0
        self.statuses: Counter[int] = Counter()
        self.faults: Counter[str] = Counter()

    def add(self, call: Call) -> None:
        self.calls += 1
        self.bytes_in += call.bytes_in
        self.bytes_out += call.bytes_out
        self.tokens += call.tokens
        if call.status is None:
            self.unanswered += 1
        else:
            self.statuses[call.status] += 1
        if call.fault is not None:
            self.faults[call.fault] += 1


class CallLog:
    """The last calls one by one, and all of them in figures, with the limiter of each endpoint."""

    def __init__(self, *, keep: int, limits: dict[str, Limit]) -> None:
        self._calls: deque[Call] = deque(maxlen=keep)
        self._tallies: dict[str, _Tally] = {}
        self._limiters = {endpoint: Limiter(limit) for endpoint, limit in limits.items()}
        self._number = 0
        self.in_flight = 0

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that are over, in the order of their ends."""
        return tuple(self._calls)

    def limiter(self, endpoint: str) -> Limiter:
        found = self._limiters.get(endpoint)
        if found is None:
            found = self._limiters[endpoint] = Limiter()
        return found

    def set_limit(self, endpoint: str, limit: Limit | None) -> None:
        """Another limit from now on; what came before it is forgotten."""
        before = self.limiter(endpoint)
        self._limiters[endpoint] = Limiter(limit)
        self._limiters[endpoint].in_flight = before.in_flight

    def begin(self) -> int:
        """The number of a call that has come in."""
        self._number += 1
        self.in_flight += 1
        return self._number

    def end(self, call: Call) -> None:
        self.in_flight -= 1
        self.limiter(call.endpoint).leave()
        self._calls.append(call)
        self._tallies.setdefault(call.endpoint, _Tally()).add(call)

    def figures(self) -> list[EndpointFigures]:
        """One entry for each endpoint that was called, by name."""
        return [self._figures(endpoint) for endpoint in sorted({*self._tallies, *self._limiters})]

    def _figures(self, endpoint: str) -> EndpointFigures:
        tally, limiter = self._tallies.get(endpoint, _Tally()), self.limiter(endpoint)
        return EndpointFigures(
            endpoint=endpoint,
            calls=tally.calls,
            statuses={str(status): number for status, number in sorted(tally.statuses.items())},
            unanswered=tally.unanswered,
            faults=dict(sorted(tally.faults.items())),
            bytes_in=tally.bytes_in,
            bytes_out=tally.bytes_out,
            tokens=tally.tokens,
            limit=limiter.limit.requests,
            worst_window=limiter.arrivals.worst,
            over_limit=limiter.over_limit,
            in_flight=limiter.in_flight,
            most_in_flight=limiter.most_in_flight,
        )
