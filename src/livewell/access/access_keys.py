"""Access keys: 256 random bits after `lw_`, shown once. What is kept is their hash, by which they are found."""

import base64
import hashlib
import re
import secrets
from typing import NamedTuple

from livewell.budgets import Secret

PREFIX = "lw_"
_BYTES = 32
_SHAPE = re.compile(r"lw_[A-Za-z0-9_-]{43}")


class NewKey(NamedTuple):
    """An access key that was made just now: its public id, the key itself, and what is kept of it."""

    id: str
    key: Secret
    hashed: bytes


def new_access_key() -> NewKey:
    """One that nobody guesses."""
    key = PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(_BYTES)).rstrip(b"=").decode()
    return NewKey(secrets.token_hex(6), Secret(key), hash_of(key))


def hash_of(key: str) -> bytes:
    """What is kept of a key. Of so many random bits a plain hash gives nothing away."""
    return hashlib.sha256(key.encode()).digest()


def is_access_key(credential: str) -> bool:
    """Whether a text has the shape of one; what has not is asked of nobody."""
    return _SHAPE.fullmatch(credential) is not None
