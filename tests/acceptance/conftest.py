"""What acceptance tests share: the command line on a database of the test's own, as a service and as its owner."""

from pathlib import Path

import pytest

from livewell.jobs import Dead, Finish, JobStore
from livewell.kernel import Database
from tests.acceptance.command import Cli


@pytest.fixture
def cli(tmp_path: Path, database_url: str, reader_url: str) -> Cli:
    """Commands as a login that is only a member of livewell_service."""
    return Cli(tmp_path, database_url, LIVEWELL_READER_URL=reader_url)


@pytest.fixture
def owner_cli(tmp_path: Path, owner_url: str, reader_url: str) -> Cli:
    """Commands as somebody who may migrate."""
    return Cli(tmp_path, owner_url, LIVEWELL_READER_URL=reader_url)


@pytest.fixture
def bury(database: Database) -> "Bury":
    return Bury(JobStore(database))


class Bury:
    """Makes dead letters of what waits, as a worker would that cannot do anything."""

    def __init__(self, store: JobStore) -> None:
        self._store = store

    async def __call__(self, group: str, reason: str = "it cannot work") -> list[int]:
        claimed = await self._store.claim_jobs("undertaker", [group], 1000)
        finishes = [Finish(job.job_id, job.lease_token, Dead(reason)) for job in claimed]
        assert set((await self._store.finish_jobs(finishes)).values()) == {"failed"}
        return sorted(job.job_id for job in claimed)
