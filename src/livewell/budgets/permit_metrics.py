"""What permits tell Prometheus: counters of this process."""

from prometheus_client import Counter

PERMITS_GRANTED = Counter("livewell_permits_granted", "Permits this process was granted.", ["endpoint"])
PERMITS_SETTLED = Counter(
    "livewell_permits_settled", "Permits this process settled, by outcome.", ["endpoint", "outcome"]
)
PERMITS_LOST = Counter("livewell_permits_lost", "Permits whose lease ended before they were settled.", ["endpoint"])
