"""What a process of a run is told when it starts, as JSON in its environment."""

import ctypes
import os
import signal
from datetime import timedelta
from pathlib import Path

from pydantic import BaseModel

from livewell.kernel import DatabaseOptions

VARIABLE = "LIVEWELL_FAULTS_PLAN"

LEASE = timedelta(seconds=3)
HEARTBEAT = timedelta(seconds=1)
RECLAIM_JITTER = timedelta(seconds=0.2)
POLL = timedelta(seconds=1)
LONGEST_JOB = timedelta(seconds=4)
CAP = 2

_DIE_WITH_PARENT = 1


class Plan(BaseModel):
    """One process: where its database is, where it writes its history, and how it is to misbehave."""

    folder: Path
    name: str
    seed: str
    url: str
    direct_url: str | None = None
    pooled: bool = False
    pool_size: int = 5
    connect_timeout: timedelta = timedelta(seconds=10)
    statement_timeout: timedelta = timedelta(seconds=30)
    slots: int = 8
    poll_interval: timedelta = POLL
    # Trusts its leases and permits for ever, as a process would whose own clock does not warn it.
    trusting: bool = False
    # Where the oracle listens, for those who call it; who is heedless does not ask whether its permit is still good.
    oracle: str | None = None
    heedless: bool = False
    # Where in a refresh of which type it dies, once it refreshes what is there already.
    dies_at: str | None = None
    dies_of: str | None = None
    # What a producer does: jobs a second, kinds by weight, the keys they fight for.
    rate: float = 40
    mix: dict[str, float] = {}
    hot_keys: int = 0

    @property
    def options(self) -> DatabaseOptions:
        return DatabaseOptions(
            url=self.url,
            direct_url=self.direct_url,
            pooled=self.pooled,
            pool_size=self.pool_size,
            connect_timeout=self.connect_timeout,
            statement_timeout=self.statement_timeout,
            application_name=self.name,
        )

    @classmethod
    def read(cls) -> "Plan":
        """The plan of this process, which ends with the one that started it."""
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        return cls.model_validate_json(os.environ[VARIABLE])
