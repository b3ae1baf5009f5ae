"""Who tests come as: the superuser of their server, and a login that is only a member of livewell_service."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import asyncpg

from livewell.testing.addresses import Address

SERVICE_LOGIN = "livewell_test_service"

_SERVICE_EXISTS = "select exists (select from pg_roles where rolname = $1)"


@asynccontextmanager
async def connected(url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def ensure_service_login(url: str) -> str:
    """Give the server the login that tests come as, a member of livewell_service and nothing else; return its URL."""
    service_url = service_url_of(url)
    password = Address.of(service_url).password
    async with connected(url) as connection:
        if not await connection.fetchval(_SERVICE_EXISTS, SERVICE_LOGIN):
            await connection.execute(f"create role {SERVICE_LOGIN} login")
        await connection.execute(f"alter role {SERVICE_LOGIN} password '{password}'")
        await connection.execute(f"grant livewell_service to {SERVICE_LOGIN}")
    return service_url


def service_url_of(url: str) -> str:
    """The URL of the service login beside a superuser's; every process of a run derives the same password."""
    address = Address.of(url)
    password = hashlib.sha256(f"{address.host} {address.port} {address.password}".encode()).hexdigest()[:20]
    return replace(address, user=SERVICE_LOGIN, password=password).url
