"""The `livewell` executable as a user runs it: a process, its output, its exit code."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIVEWELL = Path(sys.executable).parent / "livewell"
PATIENCE = 60


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a command ended."""

    line: str
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document it printed."""
        return json.loads(self.out)

    def __str__(self) -> str:
        return f"`{self.line}` ended with {self.code}\n--- out\n{self.out}--- err\n{self.err}"


class Cli:
    """Runs commands in one folder against one database."""

    def __init__(self, folder: Path, url: str | None, **environment: str) -> None:
        self.folder = folder
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LIVEWELL_", "DATABASE_")) and name not in {"COLUMNS", "LINES"}
        }
        self.environment |= {"LIVEWELL_LOG_FORMAT": "json", "LIVEWELL_LISTEN": "127.0.0.1:0", **environment}
        if url is not None:
            self.environment["DATABASE_URL"] = url

    async def __call__(self, *args: object, stdin: str = "", code: int = 0) -> Ran:
        """Run to the end; `code` is the exit code expected."""
        async with self.running(*args) as process:
            async with asyncio.timeout(PATIENCE):
                out, err = await process.inner.communicate(stdin.encode())
            ran = Ran(line=process.line, code=process.inner.returncode or 0, out=out.decode(), err=err.decode())
        assert ran.code == code, f"{ran}\nexpected {code}"
        return ran

    @asynccontextmanager
    async def running(self, *args: object, stderr: int = asyncio.subprocess.PIPE) -> AsyncIterator["Running"]:
        """Start a command; it is killed at the end if it still runs."""
        process = await asyncio.create_subprocess_exec(
            *(str(LIVEWELL), *map(str, args)),
            cwd=self.folder,
            env=self.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
        )
        try:
            yield Running(process, " ".join(["livewell", *map(str, args)]))
        finally:
            if process.returncode is None:
                process.kill()
                await process.communicate()


class Running:
    """A command under way, whose log lines on standard error are waited for."""

    def __init__(self, inner: asyncio.subprocess.Process, line: str) -> None:
        self.inner = inner
        self.line = line
        self._seen: list[str] = []

    @property
    def pid(self) -> int:
        return self.inner.pid

    async def event(self, name: str) -> dict[str, Any]:
        """The next log line of that event."""
        assert self.inner.stderr is not None
        async with asyncio.timeout(PATIENCE):
            while line := (await self.inner.stderr.readline()).decode():
                self._seen.append(line)
                if line.startswith("{") and (content := json.loads(line)).get("event") == name:
                    return dict(content)
        raise AssertionError(f"`{self.line}` ended without {name}:\n{''.join(self._seen)}")

    def send(self, number: signal.Signals) -> None:
        self.inner.send_signal(number)

    async def ended(self) -> int:
        """Wait for its end; the exit code."""
        async with asyncio.timeout(PATIENCE):
            await self.inner.communicate()
        return self.inner.returncode or 0
