"""Types, providers and endpoints as a test wants them, and fetches of them over a raw server."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from livewell.budgets import Endpoint, Provider, Secret
from livewell.fetching import Answered, Asked, Client, Fetcher, Fetching, Source, source_of
from livewell.fetching.tests.servers import RawServer
from livewell.registry import DataType

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
FIELDS: dict[str, Any] = {
    "symbol": {"type": "string"},
    "price": {"type": "number", "above": 0, "below": 1_000_000},
    "timestamp": {"type": "epoch", "source_time": True, "rule": "not_older"},
}
FETCH: dict[str, Any] = {"path": "/quote/{keys}", "key": "symbol"}


def a_type(**changes: Any) -> DataType:
    """A type of quotes."""
    said = {
        **dict.fromkeys(DataType.__dataclass_fields__),
        "name": "quote",
        "endpoint": "sim/quote",
        "ttl": timedelta(minutes=1),
        "keys_per_request": 1,
        "key_pattern": "^[A-Za-z0-9^][A-Za-z0-9._:^=-]{0,99}$",
        "fetch_call": FETCH,
        "fields": FIELDS,
        "extra": "refuse",
    }
    return DataType(**{**said, **changes})


def a_provider(base_url: str | None, **changes: Any) -> Provider:
    said: dict[str, Any] = {
        **dict.fromkeys(Provider.__dataclass_fields__),
        "name": "sim",
        "hosts": [],
        "allow_private": True,
    }
    return Provider(**{**said, "base_url": base_url, **changes})


def an_endpoint(**changes: Any) -> Endpoint:
    said = {
        **dict.fromkeys(Endpoint.__dataclass_fields__),
        "name": "sim/quote",
        "provider": "sim",
        "expected_bytes": 50_000,
        "max_bytes": 1_000_000,
        "call_timeout": timedelta(seconds=5),
    }
    return Endpoint(**{**said, **changes})


def a_source(
    server: RawServer,
    *,
    fetcher: type[Fetcher[Any]] | None = None,
    provider: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Source:
    return source_of(a_type(**changes), a_provider(server.url, **(provider or {})), an_endpoint(), fetcher=fetcher)


async def fetch(
    source: Source, keys: Sequence[str] = ("AAPL",), *, secret: Secret | None = None, **condition: str
) -> list[Answered]:
    """What an engine at noon makes of these keys."""
    async with Client() as client:
        engine = Fetching(client, clock=lambda: NOW)
        return await engine.fetch(
            source, [Asked(data_type="quote", key=key, **condition) for key in keys], secret=secret
        )


def quote(symbol: str = "AAPL", **changes: Any) -> dict[str, Any]:
    return {"symbol": symbol, "price": 190.12, "timestamp": int(NOW.timestamp()) - 5, **changes}
