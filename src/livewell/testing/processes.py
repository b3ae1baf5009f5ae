"""Python processes of a test's own, which it can talk to and kill."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from livewell.kernel import Account

_ANSWER = "answer: "
_PATIENCE = timedelta(seconds=60)

# What every program begins with: `answer(value)` tells the test, `told()` waits for it.
_PRELUDE = f"""
import asyncio, json, sys

def answer(value):
    print({_ANSWER!r} + json.dumps(value), flush=True)

async def told():
    return (await asyncio.to_thread(sys.stdin.readline)).strip()

"""


class Child:
    """A running program; it is told things and answers them, line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    async def answer(self) -> Any:
        """The next answer of the program; what else it prints is passed over, and shown if it ends instead."""
        assert self._process.stdout is not None
        printed = []
        async with asyncio.timeout(_PATIENCE.total_seconds()):
            while line := (await self._process.stdout.readline()).decode():
                if line.startswith(_ANSWER):
                    return json.loads(line.removeprefix(_ANSWER))
                printed.append(line)
        raise AssertionError(f"the process ended without an answer:\n{''.join(printed)}")

    def tell(self, word: str = "") -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n".encode())

    async def ended(self) -> int:
        """Wait for the program to end; its exit code."""
        async with asyncio.timeout(_PATIENCE.total_seconds()):
            await self._process.communicate()
        return self._process.returncode or 0

    async def kill(self) -> None:
        """Kill -9, and wait until it is gone."""
        self._process.send_signal(signal.SIGKILL)
        await self.ended()


@asynccontextmanager
async def child(
    program: str,
    *args: object,
    account: Account | None = None,
    environment: Mapping[str, str] | None = None,
    python: Sequence[str] = (sys.executable,),
) -> AsyncIterator[Child]:
    """Run a Python program (with `answer()` and `told()` defined), as another user if wanted; killed at the end."""
    process = await asyncio.create_subprocess_exec(
        *python,
        "-c",
        _PRELUDE + program,
        *map(str, args),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, **(environment or {})},
        cwd="/",
        **(account.identity if account else {}),
    )
    try:
        yield Child(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
