"""An application's API, served on a port of its own for the length of a test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from livewell.api import Api, ApiDoor, ApiServer, Bounds, DoorOptions
from livewell.app import Livewell


class ServedApi:
    """An API that is served: where, and what is behind it."""

    def __init__(self, api: Api, server: ApiServer) -> None:
        self.api = api
        self.gateway = api.gateway
        self.address = server.address


@asynccontextmanager
async def serving(app: Livewell, *, bounds: Bounds | None = None, **options: Any) -> AsyncIterator[ServedApi]:
    """Serve an open application until the block ends; clients are taken from its beginning."""
    chosen = DoorOptions(**{"port": 0, **options})
    async with app.api(chosen) as api:
        server = ApiServer(api.application, chosen, bounds=bounds)
        server.open()
        stop = asyncio.Event()
        running = asyncio.create_task(ApiDoor(api, server).run(stop))
        try:
            async with asyncio.timeout(30):
                await asyncio.wait(
                    [running, asyncio.ensure_future(api.gateway.is_open.wait())], return_when=asyncio.FIRST_COMPLETED
                )
            yield ServedApi(api, server)
        finally:
            stop.set()
            await running
