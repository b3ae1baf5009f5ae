"""The door of a process as part of a service: its server, and the gateway behind it."""

import asyncio

from livewell.api.application import Api
from livewell.api.server import ApiServer


class ApiDoor:
    """A component: serves until told to stop; then clients are sent elsewhere first, and the server ends after them."""

    name = "api"

    def __init__(self, api: Api, server: ApiServer) -> None:
        self._api = api
        self._server = server

    async def run(self, stop: asyncio.Event) -> None:
        ended = asyncio.Event()
        async with self._api:
            serving = asyncio.create_task(self._server.run(ended))
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
        ended.set()
        await serving
