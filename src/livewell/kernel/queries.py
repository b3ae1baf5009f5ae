"""The kernel's own named statements."""

from livewell.kernel.sql import Queries

QUERIES = Queries.of("livewell.kernel")
