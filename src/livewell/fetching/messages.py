"""What is said of a fetch where people read it: one line, of bounded length, and never with the key in it.

A provider may say anything, and a fetcher may repeat it: its words end up in reasons, warnings and logs.
"""

import re
from dataclasses import replace
from json import dumps
from urllib.parse import quote, quote_plus

from livewell.budgets import Secret
from livewell.fetching.types import FetchFailed, FetchOutcome, FetchThrottled, Gone, Refused
from livewell.kernel import MASK

MOST_LETTERS = 300
_QUERY = re.compile(r"(https?://[^\s?#]*)[?#]\S*", re.IGNORECASE)


def plain(text: str, secret: Secret | None = None) -> str:
    """A text as it may be shown: without the key in any form it is sent in, without what follows a URL's path."""
    text = _QUERY.sub(rf"\1?{MASK}", _masked(text, secret))
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    line = _masked(line, secret)  # a key that was broken over lines is whole again
    return line if len(line) <= MOST_LETTERS else f"{line[: MOST_LETTERS - 1]}…"


def plainly(outcome: FetchOutcome, secret: Secret | None) -> FetchOutcome:
    """An outcome whose words may be shown."""
    if isinstance(outcome, FetchFailed | Gone | Refused | FetchThrottled):
        return replace(outcome, message=plain(outcome.message, secret))
    return outcome


def _masked(text: str, secret: Secret | None) -> str:
    for form in sorted(_forms(secret), key=len, reverse=True):
        text = re.sub(re.escape(form), MASK, text, flags=re.IGNORECASE)
    return text


def _forms(secret: Secret | None) -> set[str]:
    if secret is None:
        return set()
    key = secret.reveal()
    return {key, quote(key, safe=""), quote(key), quote_plus(key), dumps(key)[1:-1]}
