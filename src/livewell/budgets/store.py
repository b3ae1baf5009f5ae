"""The budgets in the database, one method per named statement; `now` is the database's clock unless a test says it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from livewell.budgets.headers import RateFacts
from livewell.budgets.types import BlockId, Granted, NotGranted, PermitSettlement
from livewell.kernel import Caller, Connection, Queries

QUERIES = Queries.of("livewell.budgets")


class BudgetStore:
    """Acquires, settles and learns through any caller: a pool, a line, or a connection inside a transaction."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def acquire_permits(
        self,
        endpoint: str,
        holder: str,
        *,
        permits: int = 1,
        tokens: int | None = None,
        bytes: int | None = None,  # noqa: A002 - the word for it everywhere
        now: datetime | None = None,
    ) -> Granted | NotGranted:
        """As many permits as fit now, at most those asked for."""
        row = await self._caller.fetchrow(QUERIES["acquire_permits"], endpoint, holder, permits, tokens, bytes, now)
        assert row is not None  # noqa: S101 - the function answers with one row always
        if row["block_id"] is None:
            retry = row["retry_seconds"]
            return NotGranted(reason=row["reason"], retry_after=None if retry is None else timedelta(seconds=retry))
        return Granted(
            block_id=BlockId(row["block_id"]),
            permits=row["permits"],
            api_key=row["api_key"],
            key_source=row["key_source"],
            send_within=timedelta(seconds=row["send_within_seconds"]),
            lease=timedelta(seconds=row["lease_seconds"]),
        )

    async def settle_permits(
        self, block_id: BlockId, settlements: Sequence[PermitSettlement], *, now: datetime | None = None
    ) -> list[int]:
        """Settle permits of one block; the numbers that this call settled, each once for ever."""
        settled = await self._caller.fetchval(
            QUERIES["settle_permits"],
            block_id,
            [one.number for one in settlements],
            [one.tokens for one in settlements],
            [one.bytes for one in settlements],
            [one.outcome for one in settlements],
            now,
        )
        return list(settled or ())

    async def renew_permits(
        self, holder: str, blocks: Sequence[BlockId], *, now: datetime | None = None
    ) -> set[BlockId]:
        """Those of the blocks that are still the holder's."""
        rows = await self._caller.fetch(QUERIES["renew_permits"], holder, list(blocks), now)
        return {BlockId(row["block_id"]) for row in rows}

    async def learn_limits(
        self,
        endpoint: str,
        api_key: str | None,
        facts: RateFacts,
        *,
        age: timedelta = timedelta(),
        now: datetime | None = None,
    ) -> datetime | None:
        """Take over what an answer told; until when the endpoint is closed, if it is."""
        closed_until: datetime | None = await self._caller.fetchval(
            QUERIES["learn_limits"], endpoint, api_key, facts.to_json(), age.total_seconds(), now
        )
        return closed_until
