"""A permit: the right to make one call now.

`send()` is called right before the request goes out. The limiter counted on that happening within `send_within` of the
moment the permit was *asked for*, by this machine's monotonic clock; later, the provider could see more calls in one
window than it allows, so `send()` refuses. A permit is for one call: a second `send()` is refused too.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from livewell.budgets.errors import InvalidPermit, PermitExpired, PermitLost
from livewell.budgets.headers import Headers, RateFacts, read_rate_headers
from livewell.budgets.keys import Secret
from livewell.budgets.types import Granted, PermitOutcome, PermitSettlement
from livewell.kernel import trusted_seconds

_MOST_TOKENS, _MOST_BYTES = 2**31 - 1, 2**63 - 1
_REQUEST_TIMED_OUT = 408
_SERVER_ERRORS = 500

SettleBlock = Callable[["PermitBlock", PermitSettlement], None]
Learn = Callable[[str, str | None, RateFacts, float], None]


class PermitBlock:
    """Permits that were granted together: one lease, one key, one time to send them by."""

    def __init__(
        self, endpoint: str, granted: Granted, key: Secret | None, *, asked_at: float, clock: Callable[[], float]
    ) -> None:
        self.endpoint = endpoint
        self.id = granted.block_id
        self.permits = granted.permits
        self.key = key
        self.key_name = granted.api_key
        self.lease_seconds = granted.lease.total_seconds()
        self.trusted_until = asked_at + trusted_seconds(self.lease_seconds)
        self.send_by = min(self.trusted_until, asked_at + granted.send_within.total_seconds())
        self.clock = clock
        self.unsettled = granted.permits
        self.lost = False
        self.lent: set[Permit] = set()

    @property
    def is_in_use(self) -> bool:
        return not self.lost

    def may_be_sent(self) -> bool:
        return not self.lost and self.clock() <= self.send_by

    def lose(self) -> None:
        """Its lease is over: the database no longer counts its calls as under way, so they are stopped."""
        self.lost = True
        for permit in self.lent:
            permit.interrupt()


class Permit:
    """The right to make one call; handed out by a `PermitPool` for a block of code."""

    __slots__ = (
        "_block",
        "_cancelling",
        "_expired",
        "_interrupted",
        "_learn",
        "_number",
        "_own_key",
        "_sent_at",
        "_settle",
        "_task",
    )

    def __init__(
        self, block: PermitBlock, number: int, *, own_key: Secret | None, settle: SettleBlock, learn: Learn
    ) -> None:
        self._block = block
        self._number = number
        self._own_key = own_key
        self._settle: SettleBlock | None = settle
        self._learn = learn
        self._sent_at: float | None = None
        self._expired = False
        self._interrupted = False
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0

    def __repr__(self) -> str:
        return f"Permit({self.endpoint!r}, block={self._block.id}, number={self._number})"

    @property
    def endpoint(self) -> str:
        return self._block.endpoint

    @property
    def api_key(self) -> Secret | None:
        """The key this call must use; None when the provider has none declared."""
        return self._own_key or self._block.key

    @property
    def is_settled(self) -> bool:
        return self._settle is None

    @property
    def has_expired(self) -> bool:
        """Whether `send()` refused it for being too late."""
        return self._expired

    def send(self) -> None:
        """Say that the call goes out now; raises `PermitExpired` when it no longer may."""
        if self._sent_at is not None or self.is_settled:
            raise InvalidPermit(f"this permit for {self.endpoint} is used up", fix="take one permit for each call")
        if not self._block.may_be_sent():
            self._expired = True
            raise PermitExpired(
                f"the call to {self.endpoint} was not sent in time and no longer may be", fix="take another permit"
            )
        self._sent_at = self._block.clock()

    def settle(
        self,
        *,
        tokens: int | None = None,
        bytes: int | None = None,  # noqa: A002 - the word for it everywhere
        failed: bool | None = None,
        status: int | None = None,
        headers: Headers | None = None,
    ) -> None:
        """Say what the call cost and how it went; what is not said stays as reserved. The first time counts.

        `failed` is what the breaker counts; left out, it is told by the status: a server's error and a request timeout
        are failures, being throttled (429) is not. Status and headers also teach the limiter the provider's limits.
        """
        if self._sent_at is None and not self.is_settled:
            raise InvalidPermit(
                f"a call to {self.endpoint} is settled that was never sent", fix="call send() right before the request"
            )
        require_possible(tokens, bytes)
        if self.is_settled or self._sent_at is None:
            return
        if status is not None:
            self._learn_from(status, headers or {}, self._sent_at)
        failed = _is_failure(status) if failed is None else failed
        self.end("failed" if failed else "completed", tokens=tokens, bytes=bytes)

    def enter(self) -> None:
        """A block of code begins to use it."""
        self._task = asyncio.current_task()
        self._cancelling = self._task.cancelling() if self._task else 0
        self._block.lent.add(self)

    def leave(self, error: BaseException | None) -> None:
        """The block of code has ended; what it did not settle is settled by how it ended."""
        self._block.lent.discard(self)
        if not self.is_settled:
            if self._sent_at is None:
                self.end("unsent")
            else:
                self.end("failed" if isinstance(error, Exception) else "completed")
        if self._interrupted and isinstance(error, asyncio.CancelledError):
            self._withdraw_cancellation(error)

    def end(
        self,
        outcome: PermitOutcome,
        *,
        tokens: int | None = None,
        bytes: int | None = None,  # noqa: A002 - as in settle
    ) -> None:
        """Settle it once."""
        settle, self._settle = self._settle, None
        if settle is not None:
            settle(
                self._block,
                PermitSettlement(number=self._number, outcome=outcome, tokens=tokens, bytes=bytes),
            )

    def interrupt(self) -> None:
        """Stop the call that is under way with it; if none is, send() will refuse."""
        under_way = self._sent_at is not None and not self.is_settled
        if self._task is not None and under_way and not self._interrupted:
            self._interrupted = True
            self._task.cancel()

    def _learn_from(self, status: int, headers: Headers, sent_at: float) -> None:
        facts = read_rate_headers(status, headers, now=datetime.now(UTC))
        if facts.tell_anything():
            key_name = self._block.key_name if self._own_key is None else None
            self._learn(self.endpoint, key_name, facts, sent_at)

    def _withdraw_cancellation(self, error: asyncio.CancelledError) -> None:
        """As asyncio.timeout does: the cancellation was ours, unless somebody else asked for one as well."""
        if self._task is not None and self._task.uncancel() <= self._cancelling:
            raise PermitLost(
                f"the permit for {self.endpoint} was lost while its call was under way",
                fix="look for why the database could not be reached; make the call again",
            ) from error


def require_possible(tokens: int | None, bytes: int | None) -> None:  # noqa: A002 - as in settle
    """Refuse what no call can cost."""
    if tokens is not None and not 0 <= tokens <= _MOST_TOKENS:
        raise InvalidPermit(f"a call cannot cost {tokens} tokens", fix=f"between 0 and {_MOST_TOKENS}")
    if bytes is not None and not 0 <= bytes <= _MOST_BYTES:
        raise InvalidPermit(f"a call cannot cost {bytes} bytes", fix=f"between 0 and {_MOST_BYTES}")


def _is_failure(status: int | None) -> bool:
    return status is not None and (status >= _SERVER_ERRORS or status == _REQUEST_TIMED_OUT)
