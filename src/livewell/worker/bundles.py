"""A bundle: jobs that were claimed together because one request fetches for all of them.

The first job that gets a slot makes the request for all; the others find their answer when they get theirs, so that a
bundle needs no more than one slot. A job that stops waiting changes nothing for the others; a request that no job waits
for any more is cancelled.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livewell.jobs import JobId
    from livewell.worker.leased_jobs import LeasedJob


class Bundle:
    """The jobs of one request, and the request once it has begun."""

    __slots__ = ("_left", "_request", "members")

    def __init__(self, members: "Sequence[LeasedJob]" = ()) -> None:
        self.members = list(members)
        self._left: set[JobId] = set()
        self._request: asyncio.Task[Mapping[JobId, Any]] | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether its request has begun; there is never a second one."""
        return self._request is not None

    async def ask(
        self, leased: "LeasedJob", request: "Callable[[Sequence[LeasedJob]], Awaitable[Mapping[JobId, Any]]]"
    ) -> Any:
        """The answer for one of its jobs, None when there is none for it; the first to ask makes the request."""
        if self._request is None:
            wanted = [member for member in self.members if not member.was_stopped()]
            self._request = asyncio.create_task(_made(request, wanted))
        try:
            return (await asyncio.shield(self._request)).get(leased.job.job_id)
        finally:
            self._leave(leased)

    def _leave(self, leased: "LeasedJob") -> None:
        self._left.add(leased.job.job_id)
        if self._request is not None and all(
            member.job.job_id in self._left or member.was_stopped() for member in self.members
        ):
            self._request.cancel()


async def _made(
    request: "Callable[[Sequence[LeasedJob]], Awaitable[Mapping[JobId, Any]]]", wanted: "Sequence[LeasedJob]"
) -> "Mapping[JobId, Any]":
    return await request(wanted)
