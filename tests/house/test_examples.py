"""The examples of the manual work, as they stand on the page."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest

from livewell.testing import connected
from tests.house.examples import Example, examples, missing_line, pages_that_run, strange_fences
from tests.house.project import ROOT, pages, place

_LIMIT = 60


@pytest.mark.parametrize("page", pages_that_run(), ids=place)
async def test_the_examples_of_a_page_run(page: Path, owner_url: str, reader_url: str, tmp_path: Path) -> None:
    """Every marked block of a page runs, in order, against a real database, and prints what the page shows."""
    async with _reader(owner_url, reader_url, tmp_path) as reader:
        for example in examples(page):
            if example.mark == "run":
                await reader.follow(example)


@pytest.mark.parametrize("page", list(pages()), ids=place)
def test_every_block_of_code_is_run_or_says_why_not(page: Path) -> None:
    """A block without a mark would be free to rot."""
    unmarked = [
        f"{place(page)}:{example.line}"
        for example in examples(page)
        if example.mark is None or (example.mark == "not run" and not example.terms.strip())
    ]
    assert not unmarked, "\n".join(unmarked)


@pytest.mark.parametrize("page", list(pages()), ids=place)
def test_no_block_of_code_escapes_its_mark(page: Path) -> None:
    """A block that is indented, or in a language nobody runs, would not be seen by the rule above."""
    assert strange_fences(page) == []


def test_a_missing_line_of_output_is_found() -> None:
    """The comparison itself: order counts, spacing does not, `…` stands for anything."""
    output = "one  two\nthree 12 ms\nfour\n"
    assert missing_line(["one two", "three … ms", "four"], output) is None
    assert missing_line(["four", "one two"], output) == "one two"
    assert missing_line(["five"], output) == "five"


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Somebody who types what a page says, with this environment's programs first and a database of their own."""

    owner_url: str
    reader_url: str
    folder: Path
    beside: list["_Beside"] = field(default_factory=list)

    async def follow(self, example: Example) -> None:
        if example.file:
            (self.folder / example.file).write_text(example.code, encoding="utf-8")
        elif example.language == "console":
            await self._type(example)
        elif example.language == "sql":
            await self._execute(example)
        else:
            code, output = await self._run("python -", stdin=example.code)
            assert code == example.exit_code, f"{example.place} ended with {code}:\n{output}"

    async def _execute(self, example: Example) -> None:
        """As a member of livewell_service, or as the owner of the database."""
        async with connected(self.owner_url) as connection:
            if not example.as_owner:
                await connection.execute("set role livewell_service")
            await connection.execute(example.code)

    async def _type(self, example: Example) -> None:
        for number, (command, shown) in enumerate(example.steps, start=1):
            if command.endswith("&"):
                await self._leave_running(command.removesuffix("&").strip())
                continue
            code, output = await self._run(command)
            expected = example.exit_code if number == len(example.steps) else 0
            assert code == expected, f"{example.place}: `{command}` ended with {code}:\n{output}{self._said_beside()}"
            missing = missing_line(shown, output)
            assert missing is None, f"{example.place}: `{command}` did not print {missing!r} but:\n{output}"

    async def _run(self, command: str, *, stdin: str = "") -> tuple[int, str]:
        process = await self._start(command, asyncio.subprocess.PIPE)
        try:
            async with asyncio.timeout(_LIMIT):
                output, _ = await process.communicate(stdin.encode())
        finally:
            if process.returncode is None:
                process.kill()
        return process.returncode or 0, output.decode()

    async def _leave_running(self, command: str) -> None:
        output = self.folder / f"beside-{len(self.beside)}.txt"
        with output.open("wb") as file:
            process = await self._start(f"exec {command}", file)
        self.beside.append(_Beside(command=command, process=process, output=output))

    async def _start(self, command: str, output: int | IO[bytes]) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *("bash", "-euo", "pipefail", "-c", command),
            cwd=self.folder,
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "DATABASE_URL": self.owner_url,
                "LIVEWELL_READER_URL": self.reader_url,
                "LIVEWELL_LISTEN": "127.0.0.1:0",
                "COLUMNS": "160",
                "NO_COLOR": "1",
            },
            stdin=asyncio.subprocess.PIPE,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
        )

    def _said_beside(self) -> str:
        return "".join(
            f"\nmeanwhile `{process.command}` said:\n{process.output.read_text()}" for process in self.beside
        )

    async def stop(self) -> None:
        """Ask what runs beside to stop; it must end well."""
        for process in self.beside:
            process.process.terminate()
        for process in self.beside:
            try:
                async with asyncio.timeout(_LIMIT):
                    code = await process.process.wait()
            finally:
                if process.process.returncode is None:
                    process.process.kill()
            # Other servers than ours end by the signal they were sent, once they have closed.
            well = {0} if process.command.startswith("livewell") else {0, -signal.SIGTERM}
            assert code in well, f"`{process.command}` ended with {code}:\n{process.output.read_text()}"


@dataclass(frozen=True, kw_only=True)
class _Beside:
    """A command that goes on while the reader types others."""

    command: str
    process: asyncio.subprocess.Process
    output: Path


@asynccontextmanager
async def _reader(owner_url: str, reader_url: str, folder: Path) -> AsyncIterator[_Reader]:
    reader = _Reader(owner_url=owner_url, reader_url=reader_url, folder=folder)
    try:
        yield reader
    finally:
        await reader.stop()
