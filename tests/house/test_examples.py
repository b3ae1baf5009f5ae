"""The examples of the manual work, as they stand on the page."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.house.examples import Example, examples, missing_line, pages_that_run
from tests.house.project import pages, place

_LIMIT = 60


@pytest.mark.parametrize("page", pages_that_run(), ids=place)
async def test_the_examples_of_a_page_run(page: Path, owner_url: str, tmp_path: Path) -> None:
    """Every marked block of a page runs, in order, against a real database, and prints what the page shows."""
    for example in examples(page):
        if example.mark == "run":
            await _run(example, owner_url, tmp_path)


@pytest.mark.parametrize("page", list(pages()), ids=place)
def test_every_block_of_code_is_run_or_says_why_not(page: Path) -> None:
    """A block without a mark would be free to rot."""
    unmarked = [
        f"{place(page)}:{example.line}"
        for example in examples(page)
        if example.mark is None or (example.mark == "not run" and not example.terms.strip())
    ]
    assert not unmarked, "\n".join(unmarked)


def test_a_missing_line_of_output_is_found() -> None:
    """The comparison itself: order counts, spacing does not, `…` stands for anything."""
    output = "one  two\nthree 12 ms\nfour\n"
    assert missing_line(["one two", "three … ms", "four"], output) is None
    assert missing_line(["four", "one two"], output) == "one two"
    assert missing_line(["five"], output) == "five"


async def _run(example: Example, owner_url: str, folder: Path) -> None:
    where = f"{place(example.page)}:{example.line}"
    if example.file:
        (folder / example.file).write_text(example.code, encoding="utf-8")
        return
    if example.language == "console":
        for number, (command, shown) in enumerate(example.steps, start=1):
            code, output = await _shell(command, owner_url, folder)
            expected = example.exit_code if number == len(example.steps) else 0
            assert code == expected, f"{where}: `{command}` ended with {code}:\n{output}"
            missing = missing_line(shown, output)
            assert missing is None, f"{where}: `{command}` did not print {missing!r} but:\n{output}"
        return
    interpreter = "python -" if example.language == "python" else "python -m tests.house.run_sql"
    code, output = await _shell(interpreter, owner_url, folder, stdin=example.code)
    assert code == example.exit_code, f"{where} ended with {code}:\n{output}"


async def _shell(command: str, owner_url: str, folder: Path, *, stdin: str = "") -> tuple[int, str]:
    """Run one command as a user would, with this environment's programs first and the page's database."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", command),
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "DATABASE_URL": owner_url,
            "COLUMNS": "160",
            "NO_COLOR": "1",
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(_LIMIT):
            output, _ = await process.communicate(stdin.encode())
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode or 0, output.decode()
