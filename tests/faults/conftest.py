"""Sizes, seeds and figures of fault runs.

LIVEWELL_FAULTS is `short` (seconds each) or `full` (a minute of load each); LIVEWELL_FAULTS_SEED repeats a run.
"""

import os
import secrets
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.faults.load import BeginRun, Run, run_on
from tests.faults.size import Size

_PROPERTY = "fault run"
_told: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: a variation that short runs leave out")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _size_name() == "short":
        left_out = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Gather what runs have told, from whichever process ran them."""
    if report.when == "teardown":
        _told.extend(str(line) for name, line in report.user_properties if name == _PROPERTY)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Seeds and figures of all runs, passed or not."""
    for line in _told:
        terminalreporter.write_line(line)


def _size_name() -> str:
    return os.environ.get("LIVEWELL_FAULTS", "short")


@pytest.fixture(scope="session")
def size() -> Size:
    return Size.of(_size_name())


@pytest.fixture
def seed() -> str:
    return os.environ.get("LIVEWELL_FAULTS_SEED") or secrets.token_hex(4)


@pytest.fixture
def begin_run(request: pytest.FixtureRequest, tmp_path: Path, seed: str) -> BeginRun:
    """What begins a run on any database, and tells its seed and figures when it ends."""

    def begin(*, owner_url: str, url: str) -> AbstractAsyncContextManager[Run]:
        return _told_about(request, run_on(owner_url=owner_url, url=url, folder=tmp_path / "history", seed=seed))

    return begin


@asynccontextmanager
async def _told_about(request: pytest.FixtureRequest, begun: AbstractAsyncContextManager[Run]) -> AsyncIterator[Run]:
    async with begun as run:
        try:
            yield run
        finally:
            figures = ", ".join(f"{name} {value}" for name, value in run.figures.items())
            line = f"{request.node.name}: seed {run.seed}, {figures}"
            print(line)  # noqa: T201
            request.node.user_properties.append((_PROPERTY, line))


@pytest_asyncio.fixture
async def run(begin_run: BeginRun, owner_url: str, database_url: str) -> AsyncIterator[Run]:
    """A run on this test's own database."""
    async with begin_run(owner_url=owner_url, url=database_url) as begun:
        yield begun
