"""The public keys of issuers: read from a file or an address, held for a while, asked for again when a key is unknown.

An address is asked without following where it leads, for so many bytes and seconds, and at most every half minute,
however many tokens name keys that are not there. While it does not answer, the keys that were held go on to count. A
file is read where this process may read keys (`KeySources`), and again when it has changed.

What comes is believed as little as anything from outside: a key counts when it is public, fits the algorithm of its
issuer and is of a usable size; others are passed over.

Events: `keys_fetched`, `keys_unavailable`.
"""

import asyncio
import os
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias

import aiohttp
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK, PyJWTError
from pydantic_core import from_json

from livewell.access.errors import KeysUnavailable
from livewell.access.types import Algorithm
from livewell.budgets import KeyNotAllowed, KeySources
from livewell.kernel import Logger

log = Logger("livewell.access")

LARGEST = 256 * 1024
PATIENCE = timedelta(seconds=5)
# How often an address is asked at most, and how long what it said is held without asking again.
AGAIN_AFTER = timedelta(seconds=30)
HELD_FOR = timedelta(minutes=10)
_MOST_KEYS = 100
_LONGEST_ID = 200
_RSA_BITS = range(2048, 8193)

PublicKey: TypeAlias = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey


@dataclass(frozen=True)
class KeySet:
    """Keys by their id; the id is looked up and is nothing else."""

    by_id: Mapping[str, PublicKey] = field(default_factory=dict)
    unnamed: tuple[PublicKey, ...] = ()

    def find(self, key_id: str | None) -> PublicKey | None:
        """The key of that id; for a token that names none, the only one there is."""
        if key_id is not None:
            return self.by_id.get(key_id)
        every = [*self.by_id.values(), *self.unnamed]
        return every[0] if len(every) == 1 else None


@dataclass
class _Held:
    """What is known of a source, and when it was asked."""

    keys: KeySet | None = None
    asked_at: float | None = None
    version: tuple[int, ...] | None = None
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


class KeySets:
    """The key sets of this process, by source."""

    def __init__(self, sources: KeySources, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._sources = sources
        self._clock = clock
        self._held: dict[tuple[str, Algorithm], _Held] = {}

    async def find(self, source: str, algorithm: Algorithm, key_id: str | None) -> PublicKey | None:
        """The key of an id, as the source has it; raises `KeysUnavailable` when nothing is known of the source."""
        held = self._held.setdefault((source, algorithm), _Held())
        if source.startswith("file:"):
            self._read(held, source.removeprefix("file:"), algorithm)
        elif self._is_old(held, HELD_FOR):
            await self._ask(held, source, algorithm, HELD_FOR)
        found = self._known(held, source).find(key_id)
        if found is None and not source.startswith("file:") and self._is_old(held, AGAIN_AFTER):
            await self._ask(held, source, algorithm, AGAIN_AFTER)
            found = self._known(held, source).find(key_id)
        return found

    def _known(self, held: _Held, source: str) -> KeySet:
        if held.keys is None:
            raise KeysUnavailable(
                f"the keys of an issuer cannot be had from {source}", fix="the log says why; they are asked for again"
            )
        return held.keys

    def _is_old(self, held: _Held, age: timedelta) -> bool:
        # What failed is asked again sooner than what was answered, and never more often than that.
        allowed = AGAIN_AFTER if held.keys is None else age
        return held.asked_at is None or self._clock() - held.asked_at >= allowed.total_seconds()

    async def _ask(self, held: _Held, source: str, algorithm: Algorithm, age: timedelta) -> None:
        async with held.asking:
            if not self._is_old(held, age):
                return
            held.asked_at = self._clock()
            try:
                held.keys = key_set(await _fetched(source), algorithm)
            except (KeysUnavailable, ValueError) as error:
                log.warning("keys_unavailable", source=source, reason=str(error))
                return
            log.info("keys_fetched", source=source, keys=len(held.keys.by_id) + len(held.keys.unnamed))

    def _read(self, held: _Held, path: str, algorithm: Algorithm) -> None:
        try:
            place = self._sources.place_of(path)
            found = place.stat()
            version = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
            if held.version == version:
                return
            held.keys, held.version = key_set(_content(str(place)), algorithm), version
        except KeyNotAllowed as error:
            raise KeysUnavailable(error.message, fix=error.fix) from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise KeysUnavailable(f"no keys at file:{path}: {reason}", fix="put a JSON Web Key Set there") from error


def key_set(content: bytes, algorithm: Algorithm) -> KeySet:
    """The keys of a JSON Web Key Set that count for an algorithm; ValueError for what is no such set."""
    said = from_json(content)
    keys = said.get("keys") if isinstance(said, dict) else None
    if not isinstance(keys, list) or len(keys) > _MOST_KEYS:
        raise ValueError(f"it is no set of at most {_MOST_KEYS} keys")
    by_id: dict[str, PublicKey] = {}
    unnamed: list[PublicKey] = []
    for entry in keys:
        key = _usable(entry, algorithm)
        key_id = entry.get("kid") if isinstance(entry, dict) else None
        if key is None:
            continue
        if key_id is None:
            unnamed.append(key)
        elif isinstance(key_id, str) and len(key_id) <= _LONGEST_ID:
            by_id.setdefault(key_id, key)
    return KeySet(by_id, tuple(unnamed))


def _usable(entry: Any, algorithm: Algorithm) -> PublicKey | None:
    """A public key that is for signatures of this algorithm; whatever else there is, is nobody's."""
    if not isinstance(entry, dict) or entry.get("use", "sig") != "sig" or entry.get("alg", algorithm) != algorithm:
        return None
    try:
        key = PyJWK(entry, algorithm=algorithm.value).key
    except (PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return None
    match algorithm, key:
        case Algorithm.RS256, RSAPublicKey() if key.key_size in _RSA_BITS:
            return key
        case Algorithm.ES256, EllipticCurvePublicKey() if isinstance(key.curve, SECP256R1):
            return key
        case Algorithm.EDDSA, Ed25519PublicKey():
            return key
    return None


async def _fetched(url: str) -> bytes:
    """What an address answers itself, within its bounds."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE.total_seconds())
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar(), headers=headers) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            if response.status != 200:  # noqa: PLR2004 - the one status that has content of its own
                raise KeysUnavailable(f"it answered with status {response.status}")
            content = bytearray()
            async for part in response.content.iter_chunked(65_536):
                content += part
                if len(content) > LARGEST:
                    raise KeysUnavailable(f"it is larger than {LARGEST} bytes")
            return bytes(content)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise KeysUnavailable(f"it does not answer as it should: {type(error).__name__}") from error


def _content(path: str) -> bytes:
    """What a regular file holds, within bounds; a pipe or a device could keep the reader waiting."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_mode & stat.S_IWOTH:
            raise ValueError("it is no file, or everybody may write it")
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST} bytes")
    return content
