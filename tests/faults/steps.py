"""The steps of a refresh at which a worker dies: wound around the product from outside, as the notes of a run are."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import Any

from pydantic_core import from_json

from livewell.fetching import Answered, Asked, Condition, EndedFetch, Fetching, FetchStore, Source, Stored
from livewell.jobs import ClaimedJob, JobStore
from tests.faults.history import Notebook
from tests.faults.kinds import die


class Step(StrEnum):
    """From the claim to the commit, in order."""

    CLAIMED = "claimed"
    CONDITIONS_READ = "conditions_read"
    GATHERED = "gathered"
    PERMITTED = "permitted"
    SENT = "sent"
    HALF_READ = "half_read"
    JUDGED = "judged"
    STORING = "storing"
    INSIDE = "inside"
    INSIDE_AND_CUT = "inside_and_cut"
    COMMITTED = "committed"


# At these the provider or the database has the worker wait, and the harness kills it.
SEEN_BY_PROVIDER = {Step.SENT, Step.HALF_READ}
SEEN_BY_DATABASE = {Step.INSIDE, Step.INSIDE_AND_CUT}
# What is committed counts, whoever has heard of it.
STORED_BY_THE_DEAD = {Step.INSIDE, Step.COMMITTED}

GO_ON = signal.SIGUSR2


class Mortal:
    """Dies at one step of a refresh of one type; armed by the first claim of what was there and is stale."""

    def __init__(self, book: Notebook, step: Step, data_type: str) -> None:
        self._book = book
        self._step = step
        self._data_type = data_type
        self._armed = False

    def reach(self, step: Step, *, concerned: bool = True) -> None:
        if self._armed and concerned and step is self._step:
            die(self._book)

    def claim(self, jobs: Sequence[ClaimedJob]) -> None:
        mine = [job for job in jobs if job.kind == f"refresh.{self._data_type}"]
        self._armed = self._armed or any(from_json(job.payload)["cause"] == "stale" for job in mine)
        self.reach(Step.CLAIMED, concerned=bool(mine))

    def is_mine(self, data_types: Sequence[str]) -> bool:
        return self._data_type in data_types

    async def pause_inside(self) -> None:
        """Let the harness lock what the store will wait for."""
        if self._armed and self._step in SEEN_BY_DATABASE:
            go_on = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(GO_ON, go_on.set)
            self._book.note("reached", step=self._step)
            await go_on.wait()


def arm(mortal: Mortal) -> None:
    """Put the steps around the calls they lie between."""
    _around_claims(mortal)
    _around_fetches(mortal)
    _around_stores(mortal)


def _around_claims(mortal: Mortal) -> None:
    claim, look_up = JobStore.claim_jobs, FetchStore.fetch_conditions

    async def claim_jobs(self: JobStore, *args: Any, **kwargs: Any) -> list[ClaimedJob]:
        jobs = await claim(self, *args, **kwargs)
        mortal.claim(jobs)
        return jobs

    async def fetch_conditions(self: FetchStore, item_ids: Sequence[int]) -> dict[int, Condition]:
        found = await look_up(self, item_ids)
        mortal.reach(Step.CONDITIONS_READ)
        return found

    setattr(JobStore, claim_jobs.__name__, claim_jobs)
    setattr(FetchStore, fetch_conditions.__name__, fetch_conditions)


def _around_fetches(mortal: Mortal) -> None:
    ask = Fetching.fetch

    async def fetch(
        self: Fetching, source: Source, asked: Sequence[Asked], *, sending: Callable[[], Awaitable[None]], **kwargs: Any
    ) -> list[Answered]:
        concerned = mortal.is_mine([source.data_type])
        mortal.reach(Step.GATHERED, concerned=concerned and len(asked) > 1)

        async def permitted() -> None:
            await sending()
            mortal.reach(Step.PERMITTED, concerned=concerned)

        answers = await ask(self, source, asked, sending=permitted, **kwargs)
        mortal.reach(Step.JUDGED, concerned=concerned)
        return answers

    setattr(Fetching, fetch.__name__, fetch)


def _around_stores(mortal: Mortal) -> None:
    store = FetchStore.store_fetches

    async def store_fetches(self: FetchStore, ended: Sequence[EndedFetch]) -> list[Stored]:
        concerned = mortal.is_mine([fetch.data_type for fetch in ended])
        mortal.reach(Step.STORING, concerned=concerned)
        if concerned:
            await mortal.pause_inside()
        stored = await store(self, ended)
        mortal.reach(Step.COMMITTED, concerned=concerned)
        return stored

    setattr(FetchStore, store_fetches.__name__, store_fetches)
