"""The doorkeeper: whoever comes with a token or an access key, is somebody; whoever comes with nothing, is anonymous.

Access keys are asked of the database each time, so that one that was revoked opens nothing from then on. Issuers are
read again every few seconds, and at once when the doorkeeper is told to forget them.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from livewell.access.access_keys import PREFIX, hash_of, is_access_key
from livewell.access.errors import ExpiredCredential, InvalidCredential, RevokedCredential
from livewell.access.key_sets import KeySets
from livewell.access.store import AccessStore
from livewell.access.tokens import issuer_named_in, verified
from livewell.access.types import ANON_ROLE, ANONYMOUS, USER_ROLE, AdmittedKey, Issuer, Principal, Scope
from livewell.budgets import KeyRing, KeySources
from livewell.kernel import Caller

_HELD_FOR = timedelta(seconds=5)


def _now() -> datetime:
    return datetime.now(UTC)


class Doorkeeper:
    """Admits whoever comes; one for each process."""

    def __init__(
        self,
        caller: Caller,
        *,
        sources: KeySources | None = None,
        now: Callable[[], datetime] = _now,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        sources = KeySources.from_environment() if sources is None else sources
        self._store = AccessStore(caller)
        self._ring = KeyRing(sources=sources)
        self._key_sets = KeySets(sources, clock=clock)
        self._now = now
        self._clock = clock
        self._issuers: dict[str, Issuer] = {}
        self._read_at: float | None = None
        self._forgotten = 0

    async def admit(self, credential: str | None) -> Principal:
        """Whoever a credential is of; raises `InvalidCredential`, `ExpiredCredential`, `RevokedCredential`."""
        if credential is None:
            return ANONYMOUS
        if credential.startswith(PREFIX):
            return await self._by_key(credential)
        named = issuer_named_in(credential).issuer
        issuer = (await self._known_issuers()).get(named) if isinstance(named, str) else None
        if issuer is None:
            raise InvalidCredential(
                "the token is refused: its issuer does not count here",
                fix="[access.issuer.NAME] in livewell.toml says whose tokens do",
            )
        return await verified(credential, issuer, self._ring, self._key_sets, self._now())

    def forget(self) -> None:
        """Read issuers anew when next asked: something about rights has changed."""
        self._read_at = None
        self._forgotten += 1

    async def _by_key(self, credential: str) -> Principal:
        if not is_access_key(credential):
            raise _unknown()
        found = await self._store.admit_access_key(hash_of(credential))
        match found.outcome:
            case "admitted":
                return _principal(found)
            case "expired":
                raise ExpiredCredential("the access key has expired", fix="have another made: livewell access key")
            case "revoked":
                raise RevokedCredential("the access key was revoked", fix="have another made: livewell access key")
        raise _unknown()

    async def _known_issuers(self) -> dict[str, Issuer]:
        if self._read_at is None or self._clock() - self._read_at >= _HELD_FOR.total_seconds():
            asked_at, forgotten = self._clock(), self._forgotten
            self._issuers = {found.issuer: found for found in await self._store.list_issuers() if found.enabled}
            # What was told while they were being read may not be in what was read.
            self._read_at = asked_at if forgotten == self._forgotten else None
        return self._issuers


def _principal(found: AdmittedKey) -> Principal:
    claims = {"sub": found.user_id, "tenant": found.tenant}
    return Principal(
        user=found.user_id,
        scopes=frozenset(Scope(scope) for scope in found.scopes or ()),
        tenant=found.tenant,
        claims={name: said for name, said in claims.items() if said is not None},
        expires_at=found.expires_at,
        access_key=found.id,
        role=ANON_ROLE if found.user_id is None else USER_ROLE,
    )


def _unknown() -> InvalidCredential:
    return InvalidCredential("the access key is not known", fix="have one made: livewell access key")
