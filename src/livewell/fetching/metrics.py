"""What refreshes tell Prometheus and the logs: counters and times of this process, a line for whatever was not good.

Events: `refresh_set_aside` (with the reason: what is held, and by whom), `refresh_refused`, `refresh_failed`,
`refresh_throttled` (each with reason and message), `refresh_gone`, and for those who debug `refresh_fetched` and
`refresh_unchanged`; all with the job id, the type and the key.
"""

from collections import Counter as Counts
from collections.abc import Sequence
from functools import cache

from prometheus_client import Counter, Histogram

from livewell.fetching.types import EndedFetch, Fetched, Stored, Unchanged
from livewell.kernel import Logger

_MOMENTS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_LOST = "lost"
_BUSY = "busy"

REFRESHES = Counter("livewell_refreshes", "Refreshes this process ended, by outcome.", ["data_type", "outcome"])
PUTS = Counter("livewell_puts", "Keys this process put, by outcome.", ["data_type", "outcome"])
REFRESH_BYTES = Counter("livewell_refresh_bytes", "Bytes that providers sent for refreshes.", ["data_type"])
FETCH_SECONDS = Histogram(
    "livewell_fetch_seconds", "Time of a fetch, from asking to its judgement.", ["data_type"], buckets=_MOMENTS
)
STORE_SECONDS = Histogram(
    "livewell_store_seconds", "Time of a call that stores a batch of refreshes.", buckets=_MOMENTS
)

log = Logger("livewell.fetching")


@cache
def fetch_seconds(data_type: str) -> Histogram:
    """The times of a type's fetches: finding them by their label costs more than measuring, so it is done once."""
    return FETCH_SECONDS.labels(data_type)


def tell_stored(ended: Sequence[EndedFetch], stored: Sequence[Stored]) -> None:
    """Count and log what became of refreshes; of one whose lease was lost only its bytes are known."""
    became = {end.job_id: end for end in stored}
    _count(ended, became)
    here = log.bind()
    for fetch in ended:
        end = became.get(fetch.job_id)
        if end is None or end.state == _LOST:
            continue
        if end.state == _BUSY:
            here.warning(
                "refresh_set_aside", job_id=fetch.job_id, data_type=fetch.data_type, key=fetch.key, reason=end.reason
            )
            continue
        match end.outcome:
            case "refused" | "failed" | "throttled":
                tell = here.warning
            case "gone":
                tell = here.info
            case _:
                here.debug(f"refresh_{end.outcome}", job_id=fetch.job_id, data_type=fetch.data_type, key=fetch.key)
                continue
        tell(
            f"refresh_{end.outcome}",
            job_id=fetch.job_id,
            data_type=fetch.data_type,
            key=fetch.key,
            state=end.state,
            reason=end.reason,
            message=_message(fetch),
        )


def _count(ended: Sequence[EndedFetch], became: dict[int, Stored]) -> None:
    """Each counter is found once a batch."""
    outcomes: Counts[tuple[str, str]] = Counts()
    sizes: Counts[str] = Counts()
    for fetch in ended:
        end = became.get(fetch.job_id)
        if end is not None and end.state == _BUSY:
            continue
        outcomes[fetch.data_type, _LOST if end is None or end.state == _LOST else end.outcome] += 1
        sizes[fetch.data_type] += fetch.bytes or 0
    for (data_type, outcome), number in outcomes.items():
        REFRESHES.labels(data_type, outcome).inc(number)
    for data_type, size in sizes.items():
        REFRESH_BYTES.labels(data_type).inc(size)


def _message(fetch: EndedFetch) -> str | None:
    """What the fetch said of itself; what was refused as it was stored is explained among the warnings."""
    outcome = fetch.outcome
    return None if isinstance(outcome, Fetched | Unchanged) else outcome.message
