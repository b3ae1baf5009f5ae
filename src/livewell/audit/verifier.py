"""The verifier goes through the whole log in portions, so that a million entries need no more memory than a few."""

from collections.abc import AsyncIterator, Callable

from livewell.audit.store import AuditStore
from livewell.audit.types import AuditState, Finding, Head, Progress, Verification

_LISTED = 1000


def _unseen(_: Progress) -> None:
    """Nobody watches."""


class Verifier:
    """Finds edits, deletions, reorderings, insertions, guards that are off; with a head kept elsewhere, a cut tail."""

    def __init__(self, store: AuditStore, *, portion: int = 20_000) -> None:
        self._store = store
        self._portion = portion

    async def run(
        self, *, expected: Head | None = None, progress: Callable[[Progress], None] = _unseen
    ) -> Verification:
        """Verify what is sealed at this moment, and say how much is not."""
        state = await self._store.read_state()
        findings = await self._store.verify_guards()
        findings += await self._store.verify_head(expected) if expected else []
        truncated = False
        async for found, done in self._portions(state):
            room = _LISTED - len(findings)
            findings += found[:room]
            truncated = truncated or len(found) > room
            progress(done)
        return Verification(
            head=state.head,
            expected=expected,
            entries=state.sealed_entries,
            unsealed_entries=state.unsealed_entries,
            missing_ids=state.missing_ids,
            findings=tuple(findings),
            truncated=truncated,
        )

    async def _portions(self, state: AuditState) -> AsyncIterator[tuple[list[Finding], Progress]]:
        """What each portion of the chain, then of the ids, has wrong; both passes count half."""
        total = 2 * state.high_water
        after = 0
        while after < state.head.number:
            upto = min(await self._store.next_seals(after, self._portion) or state.head.number, state.head.number)
            found = await self._store.verify_seals(after, upto)
            after = upto
            yield found, Progress(done=state.high_water * after // state.head.number, total=total)
        for first in range(0, state.high_water, self._portion):
            last = min(first + self._portion, state.high_water)
            yield await self._store.verify_entries(first, last), Progress(done=state.high_water + last, total=total)
