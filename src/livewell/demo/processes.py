"""The demonstration's child processes, seen from both ends of the pipe that ties them to it.

A child ends when its standard input does: whatever happens to the demonstration, even kill -9, nobody is left behind.
Children have a session of their own, so that Ctrl-C reaches the demonstration alone, which then ends them in order.
"""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

from pydantic_core import from_json

_PATIENCE = 10.0
# A log line may carry the traceback of a whole group of exceptions.
_LONGEST_LINE = 1 << 22


def end_with_parent() -> None:
    """In a child: take the end of standard input for a SIGTERM."""

    def watch() -> None:
        with suppress(OSError):
            while os.read(0, 1024):
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


class DemoProcess:
    """A child of the demonstration; what it prints as JSON, one object a line, is handed on."""

    def __init__(self, process: asyncio.subprocess.Process, on_line: Callable[[dict[str, Any]], None]) -> None:
        self._process = process
        self._on_line = on_line
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(
        cls, module: str, environment: Mapping[str, str], on_line: Callable[[dict[str, Any]], None]
    ) -> Self:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", module),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
            limit=_LONGEST_LINE,
        )
        return cls(process, on_line)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode

    async def kill(self) -> None:
        """Kill -9, as an out-of-memory killer would."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._ended()

    async def end(self) -> int:
        """Ask it to finish, and kill it when it takes too long."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._ended()
        except TimeoutError:
            await self.kill()
        return self._process.returncode or 0

    async def _ended(self) -> None:
        await self._process.wait()
        await self._reading

    async def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it was started with a pipe
        while line := await self._process.stdout.readline():
            try:
                content = from_json(line)
            except ValueError:
                content = {"event": "printed", "line": line.decode(errors="replace").rstrip()}
            if isinstance(content, dict):
                self._on_line(content)
