"""Entries as the JSON that `audit_write` takes."""

import re
from collections.abc import Sequence

from pydantic_core import PydanticSerializationError, to_json

from livewell.audit.errors import InvalidEntry
from livewell.audit.types import NewEntry

_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def written(entries: Sequence[NewEntry]) -> str:
    """One JSON array; what PostgreSQL's text cannot hold is refused here, with a fact."""
    try:
        text = to_json([entry.given() for entry in entries], inf_nan_mode="strings")
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        raise InvalidEntry(f"an audit entry cannot be written as JSON: {error}") from error
    if _NUL.search(text):
        raise InvalidEntry("an audit entry holds a NUL character", fix="PostgreSQL stores none: leave it out")
    return text.decode()
