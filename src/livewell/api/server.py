"""Serves an ASGI application on one port, as part of a service.

Events: `api_served`.
"""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn

from livewell.api.errors import AddressTaken
from livewell.api.protocol import Bounds, HttpProtocol, WebSocketProtocol
from livewell.api.types import DoorOptions
from livewell.kernel import Logger
from livewell.live import LARGEST_MESSAGE

_BACKLOG = 2048
_GRACE_SECONDS = 5

log = Logger("livewell.api")


class ApiServer:
    """A component of a service; port 0 takes any, and `address` tells which it was."""

    name = "api"

    def __init__(self, application: Any, options: DoorOptions, *, bounds: Bounds | None = None) -> None:
        bounded = {"bounds": bounds or Bounds()}
        self._host = options.host
        self._port = options.port
        self._config = uvicorn.Config(
            application,
            http=type(HttpProtocol.__name__, (HttpProtocol,), bounded),
            ws=type(WebSocketProtocol.__name__, (WebSocketProtocol,), bounded),
            ws_per_message_deflate=False,
            ws_max_size=LARGEST_MESSAGE,
            ws_ping_interval=20,
            ws_ping_timeout=20,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            backlog=_BACKLOG,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            proxy_headers=bool(options.trusted_proxies),
            forwarded_allow_ips=list(options.trusted_proxies),
        )
        self._socket: socket.socket | None = None
        self.address = ""

    def open(self) -> None:
        """Take the address, so that one that cannot be had is told at once.

        Raises:
            AddressTaken: it cannot be had.

        """
        try:
            self._socket = socket.create_server(
                (self._host, self._port),
                family=socket.AF_INET6 if ":" in self._host else socket.AF_INET,
                backlog=_BACKLOG,
            )
        except OSError as error:
            raise AddressTaken(
                f"cannot serve on {self._host}:{self._port}: {error.strerror or error}",
                fix="name another port, or 0 for any",
            ) from error
        host, port = self._socket.getsockname()[:2]
        self.address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        log.info("api_served", address=self.address)

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until told to stop; requests under way are given a few seconds."""
        if self._socket is None:
            self.open()
        assert self._socket is not None  # noqa: S101 - it is open
        server = _Server(self._config)
        serving = asyncio.create_task(server.serve(sockets=[self._socket]))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            server.should_exit = True
            stopping.cancel()
            await serving
            self._socket = None


class _Server(uvicorn.Server):
    """A server that leaves signals to its service."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
