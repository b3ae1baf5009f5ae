"""What a gateway tells Prometheus."""

from prometheus_client import Counter, Gauge

CLIENTS = Gauge("livewell_live_clients", "Clients that are connected to this gateway.")
ITEMS = Gauge("livewell_live_items", "Items that clients of this gateway look at.")
TOLD = Counter("livewell_live_messages", "Messages that were sent to clients.")
ENDED = Counter("livewell_live_ended", "Connections that the gateway ended, by close code.", ["code"])
LOOKS = Counter("livewell_live_looks", "How often the database was asked how items stand.")
READS = Counter("livewell_live_reads", "Reads of rows for a class of viewers.")
COMPARED = Counter("livewell_live_compared", "Comparisons of all versions.")
DOUBTED = Counter("livewell_live_doubted", "Notices that named a version which was not there.")
