"""What the oracle saw, and what it means: worst windows, calls at once, calls into a storm."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import aiohttp

from tests.faults.history import Event, HistoryReader
from tests.faults.load import Member, Run

MINUTE = 60.0
# A request that took longer from sending() to the oracle was overtaken by a pause of its process: nobody can promise
# that it is sent in time. On a busy machine others take some hundredths of a second.
OVERTAKEN = 1.0


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """A call as the oracle saw it; `clock` is its own, `at` the history's."""

    call: int
    at: float
    clock: float
    left: float
    endpoint: str
    key: str | None
    job: int
    attempt: int
    tokens: int
    sent: float
    at_once: int
    refused: bool

    @property
    def overtaken(self) -> bool:
        return self.at - self.sent > OVERTAKEN


@dataclass(frozen=True, kw_only=True)
class Limit:
    """So many calls, or tokens, in every minute."""

    name: str
    allowed: int
    counts: Callable[[Arrival], bool]
    tokens: bool = False

    def share(self, arrivals: Iterable[Arrival]) -> float:
        """The worst window as a share of what is allowed."""
        return worst_window(self.weights(arrivals), MINUTE) / self.allowed

    def weights(self, arrivals: Iterable[Arrival]) -> list[tuple[float, int]]:
        """What counts, by the oracle's clock."""
        counted = (arrival for arrival in arrivals if self.counts(arrival) and not arrival.overtaken)
        return [(arrival.clock, arrival.tokens if self.tokens else 1) for arrival in counted]


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """The oracle of a run, as the harness holds it."""

    run: Run
    member: Member
    url: str

    def arrivals(self) -> list[Arrival]:
        """The calls so far; one that has not left is open for ever."""
        left = {event["call"]: event["clock"] for event in self._noted("left")}
        return [
            Arrival(at=event.at, left=left.get(event["call"], float("inf")), **event.fields)
            for event in self._noted("arrived")
        ]

    async def storm(self, endpoint: str, headers: Mapping[str, str], seconds: float) -> None:
        await self._tell(f"storm/{endpoint}", {"headers": dict(headers), "seconds": seconds})

    async def calm(self, endpoint: str) -> None:
        await self._tell(f"calm/{endpoint}")

    async def leap(self, seconds: int) -> None:
        """Let time pass, here and for the limiter; nothing may be under way."""
        await self.run.owner.execute(
            "update livewell_private.limit_use set minute_slot = minute_slot - $1::integer,"
            " next_allowed_at = next_allowed_at - make_interval(secs => $1),"
            " smooth_at = smooth_at - make_interval(secs => $1)",
            seconds,
        )
        await self._tell(f"leap/{seconds}")

    async def _tell(self, what: str, json: Any = None) -> None:
        async with aiohttp.ClientSession() as session, session.post(f"{self.url}/{what}", json=json) as answer:
            answer.raise_for_status()

    def _noted(self, what: str) -> list[Event]:
        return [event for event in self.run.events(what) if event.by == self.member.name]


async def start_oracle(run: Run) -> Oracle:
    member = await run.start("oracle", None, {})
    run.others[member.name] = member
    (listening,) = await run.seen("listening", by=member.name)
    return Oracle(run=run, member=member, url=f"http://127.0.0.1:{listening['port']}")


def worst_window(moments: Sequence[tuple[float, int]], seconds: float) -> int:
    """The most that fell into some window of this length; the first moment of a window belongs to it, its end not."""
    ordered = sorted(moments)
    times = [at for at, _ in ordered]
    sums = [0, *accumulate(weight for _, weight in ordered)]
    ends = (bisect_left(times, begin + seconds) for begin in times)
    return max((sums[end] - sums[begin] for begin, end in enumerate(ends)), default=0)


def most_at_once(arrivals: Iterable[Arrival]) -> int:
    """The most calls open at the oracle, from when they came and left; and never less than it counted itself."""
    seen = list(arrivals)
    steps = sorted([(arrival.clock, 1) for arrival in seen] + [(arrival.left, -1) for arrival in seen])
    return max([*accumulate(change for _, change in steps), *(arrival.at_once for arrival in seen)], default=0)


def into_the_storm(history: HistoryReader, arrivals: Iterable[Arrival], endpoint: str) -> tuple[int, list[str]]:
    """How many honest storms were told to the database, and the calls that were asked for after that and before the
    time stated. What had its permit by then is in flight: nobody can call it back.
    """
    arrived = [arrival for arrival in arrivals if arrival.endpoint == endpoint]
    asked = {(event["job"], event["attempt"]): event["asked"] for event in history.events("claimed")}
    told, wrong = 0, []
    for storm in history.events("storm"):
        if storm["endpoint"] != endpoint or not any("{" in text for text in storm["headers"].values()):
            continue
        refused = {
            arrival.job for arrival in arrived if arrival.refused and storm["clock"] <= arrival.clock < storm["until"]
        }
        known = _first_told(history, refused, storm)
        if known is None:
            continue
        told += 1
        wrong += [
            f"call of job {arrival.job}, asked for {asked[arrival.job, arrival.attempt] - known:.3f} s after the 429"
            f" was known, came {storm['until'] - arrival.clock:.3f} s before the time stated"
            for arrival in arrived
            if known < asked[arrival.job, arrival.attempt] and storm["clock"] <= arrival.clock < storm["until"]
        ]
    return told, wrong


def _first_told(history: HistoryReader, jobs: set[int], storm: Event) -> float | None:
    """When a worker first had it from the database that its 429 was taken in."""
    sent = {
        (event["job"], event["token"])
        for event in history.events("finish_sent")
        if event["job"] in jobs and event["outcome"] == "throttled" and event.at >= storm.at
    }
    answers = (
        event.at
        for event in history.events("finish_answered")
        if (event["job"], event["token"]) in sent and event["state"] not in {"lost", "busy"}
    )
    return min(answers, default=None)
