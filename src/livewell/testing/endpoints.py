"""Endpoints for tests: without limits unless they are given."""

from typing import Any

from livewell.kernel import Database

_UNLIMITED = {"requests_per_minute": None, "concurrent": None, "depth_limit": None, "breaker_failures": None}


async def make_endpoint(owner: Database, name: str, *, quota_bytes: int | None = None, **fields: Any) -> None:
    """Make an endpoint, and its provider if that is new, with these fields of its table; nothing else limits it."""
    provider = name.partition("/")[0]
    await owner.execute(
        "insert into livewell_private.provider (name, quota_bytes) values ($1, $2) on conflict (name) do nothing",
        provider,
        quota_bytes,
    )
    await owner.execute(
        "insert into livewell_private.quota_use (provider) values ($1) on conflict do nothing", provider
    )
    columns = {**_UNLIMITED, **fields}
    values = ", ".join(f"${n}" for n in range(3, len(columns) + 3))
    await owner.execute(
        f"insert into livewell_private.endpoint (name, provider, {', '.join(columns)}) values ($1, $2, {values})",
        name,
        provider,
        *columns.values(),
    )
    await owner.execute("insert into livewell_private.limit_use (name) values ($1)", name)


async def make_market_data(owner: Database) -> None:
    """Make the provider and the account of the preset `market-data`, as rows: nobody declared them."""
    await owner.execute(
        "insert into livewell_private.provider (name, quota_bytes) values ('fmp', 20 * 1024::bigint ^ 3)"
    )
    await owner.execute("insert into livewell_private.quota_use (provider) values ('fmp')")
    await owner.execute(
        "insert into livewell_private.endpoint (name, provider, requests_per_minute) values ('fmp', 'fmp', 300)"
    )
    await owner.execute("insert into livewell_private.limit_use (name) values ('fmp')")


async def make_key(owner: Database, provider: str, name: str, *, scope: str | None = None, **limits: Any) -> None:
    """Make a key of a provider, found in the environment by its name, with these limits."""
    columns = {"scope": scope or name, "source": f"env:{name.upper()}", **limits}
    values = ", ".join(f"${n}" for n in range(3, len(columns) + 3))
    await owner.execute(
        f"insert into livewell_private.api_key (provider, name, {', '.join(columns)}) values ($1, $2, {values})",
        provider,
        name,
        *columns.values(),
    )
    await owner.execute(
        "insert into livewell_private.limit_use (name) values ($1) on conflict do nothing",
        f"{provider}@{scope or name}",
    )
