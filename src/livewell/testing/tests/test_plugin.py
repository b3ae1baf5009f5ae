"""The plugin in whole runs of pytest: one server for all workers, nothing left behind, nothing skipped unseen."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from livewell.testing import until
from livewell.testing.throwaway import sweep

RECORDS = """
import os
from pathlib import Path

import pytest

@pytest.mark.parametrize("number", range(2))
async def test_records_its_server(owner, throwaway_folder, number):
    folder = await owner.fetchval("show data_directory")
    name = f"{os.getpid()}-{number}"
    Path(os.environ["RECORDS"], name).write_text(f"{throwaway_folder}\\n{folder}")
"""

HANGS = """
import asyncio
import os
from pathlib import Path

async def test_hangs(owner, throwaway_folder):
    Path(os.environ["RECORDS"], "hanging").write_text(str(throwaway_folder))
    await asyncio.Event().wait()
"""

SKIPS = """
import pytest

from livewell.testing import require

def test_lacks_a_program():
    require("no-such-program")

@pytest.mark.skip(reason="a reason of its own")
def test_is_skipped_by_a_mark():
    pass

@pytest.mark.xfail(strict=True)
def test_is_expected_to_fail():
    raise AssertionError
"""

SKIPS_ITSELF = """
import pytest

pytest.skip("the whole module", allow_module_level=True)
"""


@asynccontextmanager
async def run(
    folder: Path, text: str, *options: str, environment: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run pytest over one test file, as a project would that only names the plugin; killed at the end of the block."""
    (folder / "test_it.py").write_text(text)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "LIVEWELL_")) and name != "COV_CORE_SOURCE"
    }
    plain = ["-p", "livewell.testing.plugin", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-rsf"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", *plain, *options, "test_it.py"),
        cwd=folder,
        env={**kept, "RECORDS": str(folder), **(environment or {})},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def finished(
    folder: Path, text: str, *options: str, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """The exit code and the output of a whole run."""
    async with run(folder, text, *options, environment=environment) as process, asyncio.timeout(100):
        output = (await process.communicate())[0].decode()
    assert process.returncode is not None
    return process.returncode, output


async def test_workers_share_one_server_that_goes_with_the_run(tmp_path: Path) -> None:
    """Two workers use the same server; after the run neither it nor its folder is there."""
    code, output = await finished(tmp_path, RECORDS, "-n", "2")
    assert code == 0, output
    records = list(tmp_path.glob("*-[0-9]"))
    assert len({record.name.partition("-")[0] for record in records}) == 2
    assert len({record.read_text() for record in records}) == 1
    folder, data = records[0].read_text().splitlines()
    assert not Path(folder).exists()
    assert _processes_in(data) == []


async def test_the_folder_of_a_killed_run_is_swept(tmp_path: Path) -> None:
    """What a run left that was killed with kill -9, the next one removes; a run that lives is left alone."""
    record = tmp_path / "hanging"

    async def recorded() -> bool:
        return record.exists() and record.read_text() != ""

    async with run(tmp_path, HANGS):
        await until(recorded, "the test hangs", within=timedelta(seconds=60))
        folder = Path(record.read_text())
        await sweep()
        assert folder.exists()
    assert _processes_in(str(folder / "shared/data")) != []
    await sweep()
    assert not folder.exists()
    assert _processes_in(str(folder / "shared/data")) == []


async def test_what_is_missing_is_skipped_by_name(tmp_path: Path) -> None:
    """Without LIVEWELL_REQUIRE_ALL a lacking program skips the test and says which."""
    code, output = await finished(tmp_path, SKIPS)
    assert code == 0, output
    assert "no-such-program is not installed" in output
    assert "2 skipped, 1 xfailed" in output


@pytest.mark.parametrize(
    ("text", "outcome"), [(SKIPS, "1 failed, 1 xfailed, 1 error"), (SKIPS_ITSELF, "1 error")], ids=["tests", "module"]
)
async def test_where_everything_is_required_a_skip_is_a_failure(tmp_path: Path, text: str, outcome: str) -> None:
    """With LIVEWELL_REQUIRE_ALL=1 no test and no module can be skipped, for whatever reason."""
    code, output = await finished(tmp_path, text, environment={"LIVEWELL_REQUIRE_ALL": "1"})
    assert code in (1, 2), output
    assert outcome in output
    assert "skipped" not in output.splitlines()[-1]


def _processes_in(data: str) -> list[int]:
    """The server processes that stand in this data folder."""
    return [
        process.pid
        for process in psutil.process_iter(["name", "cwd"])
        if process.info["name"] == "postgres" and process.info["cwd"] == data
    ]
