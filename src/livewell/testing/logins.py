"""Who tests come as: the superuser of their server, a login that is only a service, and one that reads for viewers."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import asyncpg

from livewell.testing.addresses import Address

SERVICE_LOGIN = "livewell_test_service"
READER_LOGIN = "livewell_test_viewers"

_LOGIN_EXISTS = "select exists (select from pg_roles where rolname = $1)"


@asynccontextmanager
async def connected(url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def ensure_service_login(url: str) -> str:
    """Give the server the logins that tests come as; return the URL of the one that is only a service.

    The other reads for viewers: a member of their roles, of whose rights it inherits none.
    """
    service_url = service_url_of(url)
    password = Address.of(service_url).password
    async with connected(url) as connection:
        for login, how in ((SERVICE_LOGIN, "inherit"), (READER_LOGIN, "noinherit")):
            if not await connection.fetchval(_LOGIN_EXISTS, login):
                await connection.execute(f"create role {login} login {how}")
            await connection.execute(f"alter role {login} password '{password}'")
        await connection.execute(f"grant livewell_service to {SERVICE_LOGIN}")
        await connection.execute(f"grant livewell_user, livewell_anon to {READER_LOGIN}")
    return service_url


def service_url_of(url: str) -> str:
    """The URL of the service login beside a superuser's; every process of a run derives the same password."""
    return _beside(url, SERVICE_LOGIN)


def reader_url_of(url: str) -> str:
    """The URL of the login that reads for viewers, beside a superuser's."""
    return _beside(url, READER_LOGIN)


def _beside(url: str, login: str) -> str:
    address = Address.of(url)
    password = hashlib.sha256(f"{address.host} {address.port} {address.password}".encode()).hexdigest()[:20]
    return replace(address, user=login, password=password).url
