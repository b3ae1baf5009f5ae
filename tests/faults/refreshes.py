"""The application whose worker is killed in the middle of a refresh.

Quotes are declared as data and kept in a table of the user's, several in a request; profiles are fetched by a class,
one by one, and kept as records.
"""

from collections.abc import Sequence
from typing import Any

from livewell import Call, Fetcher, JobContext, Livewell, Model, bounded
from livewell.fetching import EndedFetch, FetchStore, Stored
from tests.faults.history import Notebook
from tests.faults.plan import Plan
from tests.faults.steps import Mortal, Step, arm

QUOTE, PROFILE = "quote", "profile"
TTL = "1 hour"
PROFILE_FIELDS = {"endpoint": "sim/profile", "ttl": TTL, "extra": "ignore"}
_GOOD = {"fetched", "unchanged", "gone"}


class Profile(Model):
    """What is kept of a company."""

    symbol: str
    name: str = bounded(alias="companyName", min_length=1)
    ceo: str
    employees: int = bounded(alias="fullTimeEmployees", ge=0)


def declare_refreshes(app: Livewell, book: Notebook, plan: Plan) -> None:
    @app.type(PROFILE, **PROFILE_FIELDS)
    class ProfileFetcher(Fetcher[Profile]):
        key = "symbol"

        async def fetch(self, call: Call) -> Sequence[Any]:
            return await call.get(f"/profile/{call.key}").items("$[*]")

    _note_refreshes(book)
    if plan.dies_at is not None and plan.dies_of is not None:
        arm(Mortal(book, Step(plan.dies_at), plan.dies_of))


def _note_refreshes(book: Notebook) -> None:
    """Put a note around the start of an attempt, and around the call that ends refreshes."""
    begin, store = JobContext.__init__, FetchStore.store_fetches

    def started(self: JobContext, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        book.note(
            "started", job=self.job_id, attempt=self.attempt, kind=self.job.kind, idempotency_key=self.idempotency_key
        )

    async def store_fetches(self: FetchStore, ended: Sequence[EndedFetch]) -> list[Stored]:
        for fetch in ended:
            outcome = "completed" if fetch.outcome.word in _GOOD else fetch.outcome.word
            book.note("finish_sent", job=fetch.job_id, token=str(fetch.lease_token), outcome=outcome)
        stored = await store(self, ended)
        tokens = {fetch.job_id: str(fetch.lease_token) for fetch in ended}
        for answer in stored:
            book.note("finish_answered", job=answer.job_id, token=tokens[answer.job_id], state=answer.state)
        return stored

    JobContext.__init__ = started  # type: ignore[method-assign]
    setattr(FetchStore, store_fetches.__name__, store_fetches)
