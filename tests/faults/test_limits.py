"""F19, with F1, F2 and F11 at once: the limits of providers, judged by an oracle that knows nothing of them."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import chain, cycle
from typing import Any

import pytest

from livewell.testing import TcpProxy, make_endpoint, make_key
from tests.faults.load import Member, Run
from tests.faults.oracle import MINUTE, Arrival, Limit, Oracle, into_the_storm, most_at_once, start_oracle, worst_window
from tests.faults.plan import LEASE
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

WORKERS = 8
SECONDS = {"short": 25.0, "full": 120.0}
SEND_WITHIN = 2.0
CAP, STORMY_CAP = 5, 6
FILLED = 0.95

# Calls an endpoint may make in a minute, and what else holds there; all of them have more work than they may do.
ENDPOINTS: dict[str, dict[str, Any]] = {
    "burst/calls": {"requests_per_minute": 300},
    "capped/calls": {"requests_per_minute": 480, "concurrent": CAP},
    "even/calls": {"requests_per_minute": 240, "limiter": "smooth"},
    "account": {"requests_per_minute": 200},
    "account/one": {"requests_per_minute": 150},
    "account/two": {"requests_per_minute": 150},
    "words/calls": {"tokens_per_minute": 5000},
    "keyed/calls": {},
    "stormy/calls": {
        "requests_per_minute": 600,
        "limiter": "smooth",
        "concurrent": STORMY_CAP,
        "retry_after": timedelta(seconds=1),
        "retry_after_max": timedelta(seconds=4),
    },
}
CALLED = [name for name in ENDPOINTS if "/" in name]
KEYS = {"first": 100, "second": 60}
SUPPLY = 60

HONEST: tuple[dict[str, str], ...] = ({"Retry-After": "{seconds}"}, {"Retry-After": "{date}"})
LIES: tuple[dict[str, str], ...] = (
    {"Retry-After": "0", "x-ratelimit-remaining": "999999"},
    {"Retry-After": "1000000000"},
    {},
    {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"},
    {"Retry-After": "soon", "RateLimit": '";;=, r=-1;t=x', "RateLimit-Policy": "%%%", "x-ratelimit-reset": "-5"},
)
HONEST_SECONDS, LYING_SECONDS = 4.0, 1.5


def _limits() -> Iterator[Limit]:
    for name, fields in ENDPOINTS.items():
        for what, tokens in (("requests_per_minute", False), ("tokens_per_minute", True)):
            if what in fields:
                yield Limit(name=name, allowed=fields[what], counts=_called(name), tokens=tokens)
    for key, allowed in KEYS.items():
        yield Limit(name=f"keyed@{key}", allowed=allowed, counts=lambda arrival, key=key: arrival.key == key)  # type: ignore[misc]


def _called(name: str) -> Any:
    """Whether a call is of this endpoint, or of this account."""
    return lambda arrival: arrival.endpoint == name or arrival.endpoint.startswith(f"{name}/")


STRICT = ("burst/calls", "account", "words/calls")


async def test_no_limit_is_exceeded_as_the_provider_sees_it(run: Run, tcp_proxy: TcpProxy, size: Size) -> None:
    """F1, F2, F11 and F19 at once: no window of any limit is exceeded, and under saturation it is all but filled."""
    oracle = await start_oracle(run)
    await _make_endpoints(run)
    near: dict[str, Any] = {"program": "caller", "oracle": oracle.url}
    far = {**near, "url": tcp_proxy.through(run.url)}
    # The first compiles for all.
    plans = {member.name: near for member in await run.start_workers(1, **near)}
    for number in range(1, WORKERS):
        member = await run.start_worker(**(far if number % 2 else near))
        plans[member.name] = far if number % 2 else near
    await run.at_work(run.living())
    await _supply(run, 5 * SUPPLY)
    paused: set[str] = set()
    ends = time.monotonic() + SECONDS[size.name]
    async with asyncio.TaskGroup() as faults:
        faults.create_task(_supplying(run, ends))
        faults.create_task(_killing(run, ends, plans, paused))
        faults.create_task(_pausing(run, ends, paused))
        faults.create_task(_slowing(run, tcp_proxy, ends))
        faults.create_task(_storming(run, oracle, ends))
    await run.drain()
    await run.passes_but_for_the_living()
    arrivals = oracle.arrivals()
    _judge(run, arrivals)
    await _is_filled(run, arrivals)
    await _nothing_is_left(run)


def _judge(run: Run, arrivals: list[Arrival]) -> None:
    shares = {limit.name: limit.share(arrivals) for limit in _limits()}
    caps = {
        name: most_at_once(arrival for arrival in arrivals if arrival.endpoint == name)
        for name in ("capped/calls", "stormy/calls")
    }
    storms, wrong = into_the_storm(run.reader, arrivals, "stormy/calls")
    run.figures |= {
        "calls": len(arrivals),
        "worst windows": {name: f"{share:.3f}" for name, share in shares.items()},
        "most at once": caps,
        "refused": sum(arrival.refused for arrival in arrivals),
        "honest storms told": storms,
        "permits given up": sum(event["outcome"] == "reset" for event in run.events("finish_sent")),
        "late finishes refused": sum(event["state"] == "lost" for event in run.events("finish_answered")),
        "overtaken by a pause": sum(arrival.overtaken for arrival in arrivals),
        "longest from sending to arrival": f"{max(arrival.at - arrival.sent for arrival in arrivals):.3f} s",
    }
    assert not wrong, wrong
    assert storms
    assert all(share <= 1 for share in shares.values()), shares
    assert caps["capped/calls"] <= CAP
    assert caps["stormy/calls"] <= STORMY_CAP
    assert max(shares[name] for name in (*STRICT, *(f"keyed@{key}" for key in KEYS))) >= FILLED, shares
    _only_pauses_overtake(run, arrivals)


def _only_pauses_overtake(run: Run, arrivals: list[Arrival]) -> None:
    """What was left out of the windows was held up by a pause between sending() and the wire, nothing else."""
    claimed_by = {(event["job"], event["attempt"]): event.by for event in run.events("claimed")}
    resumed = [(event["process"], event.at) for event in run.events("resumed")]
    for arrival in arrivals:
        if arrival.overtaken:
            process = claimed_by[arrival.job, arrival.attempt]
            assert any(name == process and arrival.sent < at <= arrival.at for name, at in resumed), arrival


async def _is_filled(run: Run, arrivals: list[Arrival]) -> None:
    """With what was permitted to processes that died or gave it up, each strict limit was used up.

    A call that never came is spent whole, and of one that nobody settled the tokens stay as they were reserved.
    """
    used = {(arrival.job, arrival.attempt): arrival.tokens for arrival in arrivals}
    offset = time.time() - time.monotonic()
    rows = await run.owner.fetch(
        "select a.job_id, a.attempt, a.started_at, a.outcome, j.endpoint, j.estimated_tokens"
        " from livewell_private.job_attempt as a join livewell_private.job as j on j.id = a.job_id"
    )
    lost = [row for row in rows if (row["job_id"], row["attempt"]) not in used]
    unsettled = [row for row in rows if row["outcome"] == "rescued" and row not in lost]
    run.figures["permits lost"] = len(lost)
    for limit in _limits():
        if limit.name in STRICT:
            unseen = [
                (row["started_at"].timestamp() - offset, row["estimated_tokens"] if limit.tokens else 1)
                for row in lost
                if row["endpoint"].startswith(limit.name)
            ] + [
                (row["started_at"].timestamp() - offset, row["estimated_tokens"] - used[row["job_id"], row["attempt"]])
                for row in unsettled
                if limit.tokens and row["endpoint"].startswith(limit.name)
            ]
            filled = worst_window([*limit.weights(arrivals), *unseen], MINUTE) / limit.allowed
            assert filled >= FILLED, f"{limit.name} was filled to {filled:.3f}"


async def _make_endpoints(run: Run) -> None:
    # The account comes before its endpoints in the table, and jobs are never delayed by backpressure: they are to wait.
    for name, fields in ENDPOINTS.items():
        await make_endpoint(run.owner, name, **{"backpressure_share": 1000, **fields})
    for key, allowed in KEYS.items():
        await make_key(run.owner, "keyed", key, requests_per_minute=allowed)


async def _supply(run: Run, number: int, *endpoints: str) -> None:
    for endpoint in endpoints or CALLED:
        await run.enqueue(
            "call",
            *(
                {
                    "wait": run.chance.choice((0, 0, run.chance.uniform(0, 0.3))),
                    "seconds": run.chance.uniform(0.1, 0.6) if endpoint == "capped/calls" else 0.02,
                    "tokens": run.chance.randint(10, 100),
                }
                for _ in range(number)
            ),
            endpoint=endpoint,
            estimated_tokens=100,
            priority=run.chance.randint(1, 9),
        )


async def _supplying(run: Run, ends: float) -> None:
    while time.monotonic() < ends:
        await asyncio.sleep(run.chance.uniform(0, 2))
        await _supply(run, run.chance.randint(1, SUPPLY), *run.chance.sample(CALLED, 3))


async def _killing(run: Run, ends: float, plans: dict[str, dict[str, Any]], paused: set[str]) -> None:
    """Kill one or another, more often those near their database: the others take their time to start."""
    while time.monotonic() < ends:
        await asyncio.sleep(run.chance.uniform(1, 3))
        awake = _awake(run, paused)
        victim = run.chance.choices(awake, [1 if "url" in plans[member.name] else 3 for member in awake])[0]
        await run.kill(victim)
        plans[(await run.start_worker(**plans[victim.name])).name] = plans[victim.name]


async def _pausing(run: Run, ends: float, paused: set[str]) -> None:
    """Past send_within, or past the lease."""
    lease = LEASE.total_seconds()
    while time.monotonic() < ends:
        zombie = run.chance.choice(_awake(run, paused))
        async with _asleep(run, zombie, paused):
            await asyncio.sleep(
                run.chance.choice((run.chance.uniform(SEND_WITHIN, 2.8), run.chance.uniform(lease, lease + 2)))
            )
        await asyncio.sleep(run.chance.uniform(0, 2))


async def _slowing(run: Run, proxy: TcpProxy, ends: float) -> None:
    """Slow for longer than a lease, then quick for long enough to connect: that takes many messages."""
    while time.monotonic() < ends:
        proxy.delay(timedelta(milliseconds=200), jitter=timedelta(milliseconds=100), seed=run.chance.randrange(1000))
        await asyncio.sleep(run.chance.uniform(4, 6))
        proxy.heal()
        await asyncio.sleep(run.chance.uniform(1, 3))


@asynccontextmanager
async def _asleep(run: Run, member: Member, paused: set[str]) -> AsyncIterator[None]:
    paused.add(member.name)
    run.pause(member)
    try:
        yield
    finally:
        run.resume(member)
        paused.remove(member.name)


def _awake(run: Run, paused: set[str]) -> list[Member]:
    return [member for member in run.living() if member.name not in paused]


async def _storming(run: Run, oracle: Oracle, ends: float) -> None:
    """One storm after another, each as soon as calls come through again."""
    lies = list(LIES)
    run.chance.shuffle(lies)
    for headers in cycle(chain(HONEST[:1], lies[:3], HONEST[1:], lies[3:])):
        if not await _calls_come_through(oracle, ends):
            return
        seconds = HONEST_SECONDS if headers in HONEST else LYING_SECONDS
        await oracle.storm("stormy/calls", headers, seconds)
        await asyncio.sleep(seconds)
        await oracle.calm("stormy/calls")


async def _calls_come_through(oracle: Oracle, ends: float) -> bool:
    """Wait for a call that is answered, as long as the run lasts; whether one was."""
    since = time.monotonic()
    while time.monotonic() < ends:
        if any(
            arrival.at > since and not arrival.refused
            for arrival in oracle.arrivals()
            if arrival.endpoint == "stormy/calls"
        ):
            return True
        await asyncio.sleep(0.2)
    return False


async def _nothing_is_left(run: Run) -> None:
    """I6 for budgets: no permit is out, nothing counts as in flight."""
    assert await run.owner.fetchval("select count(*) from livewell_private.permit_block") == 0
    assert await run.owner.fetchval("select sum(in_flight) from livewell.budget_state()") == 0
