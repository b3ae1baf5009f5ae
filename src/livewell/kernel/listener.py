"""One connection that listens, kept alive and opened again when it breaks.

A notification can be lost whenever the connection is, so `on_reconnect` is called after every successful LISTEN (the
first included) and the caller polls once. A connection that dies silently is found by asking it something now and then.
Behind a transaction pooler LISTEN means nothing: without a direct address the listener is not `available`, and pollers
poll.

Events: `listener_connected`, `listener_lost`, `listener_unavailable`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from livewell.kernel.backoff import Backoff
from livewell.kernel.connection import DRIVER_ERRORS
from livewell.kernel.database import DatabaseOptions, close_politely, connect
from livewell.kernel.errors import DatabaseUnavailable, LivewellError, reason_of
from livewell.kernel.logger import Logger
from livewell.kernel.waiting import wait_for_any

log = Logger("livewell.kernel")


class Listener:
    """A component of a service: calls `on_notify(channel, payload)` for what arrives on its channels."""

    name = "listener"

    def __init__(
        self,
        options: DatabaseOptions,
        channels: Sequence[str],
        on_notify: Callable[[str, str], None],
        on_reconnect: Callable[[], None],
        *,
        keepalive: timedelta = timedelta(seconds=15),
        first_pause: timedelta = timedelta(milliseconds=200),
        longest_pause: timedelta = timedelta(seconds=10),
    ) -> None:
        self._options = replace(options, url=options.direct_url or options.url, pooled=False)
        self._channels = channels
        self._on_notify = on_notify
        self._on_reconnect = on_reconnect
        self._keepalive = keepalive
        self._backoff = Backoff(first=first_pause, longest=longest_pause)
        self.available = not options.pooled or options.direct_url is not None
        self.listening = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Listen until told to stop."""
        if not self.available:
            log.info("listener_unavailable", reason="behind a pooler and no direct address")
            await stop.wait()
            return
        failures = 0
        while not stop.is_set():
            try:
                await self._listen(stop)
            except DatabaseUnavailable as error:
                failures = 1 if self.listening.is_set() else failures + 1
                log.warning("listener_lost", reason=str(error), attempt=failures)
            finally:
                self.listening.clear()
            if not stop.is_set():
                await wait_for_any(stop, timeout=self._backoff.seconds(failures))

    async def _listen(self, stop: asyncio.Event) -> None:
        """Listen on one connection for as long as it lives."""
        connection = await connect(self._options)
        lost = asyncio.Event()
        try:
            connection.add_termination_listener(lambda _: lost.set())
            for channel in self._channels:
                await self._answered(connection.add_listener(channel, self._hear))
            self.listening.set()
            log.info("listener_connected", channels=list(self._channels))
            self._on_reconnect()
            while not stop.is_set():
                await wait_for_any(stop, lost, timeout=self._keepalive.total_seconds())
                await self._answered(connection.execute("select 1"))
        finally:
            await close_politely(connection)

    async def _answered(self, call: Awaitable[object]) -> None:
        """Wait for an answer, but not longer than one waits for a connection."""
        try:
            async with asyncio.timeout(self._options.connect_timeout.total_seconds()):
                await call
        except (*DRIVER_ERRORS, LivewellError) as error:
            raise DatabaseUnavailable(f"the listening connection is gone: {reason_of(error)}") from error

    def _hear(self, _connection: object, _pid: object, channel: object, payload: object) -> None:
        self._on_notify(str(channel), str(payload))
