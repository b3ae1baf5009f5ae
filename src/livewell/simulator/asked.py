"""What a caller asks for: which endpoint, which symbols, with which key, and what it has already."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import unquote

from aiohttp import web

from livewell.simulator.documents import WRITERS
from livewell.simulator.options import CHAT, KeyPlace

UNKNOWN_ENDPOINT = "unknown"
MOVED = "/_moved"
AGAIN = "/_again"

_DATA = re.compile(r"/api/v3/(?P<endpoint>[a-z-]+)/(?P<keys>[^/]+)")
_CHAT = "/v1/chat/completions"
_NO_GZIP = re.compile(r"gzip\s*;\s*q=0(\.0*)?\s*(,|$)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One request, understood."""

    endpoint: str
    method: str
    path: str
    target: str
    keys: tuple[str, ...]
    api_key: str | None
    takes_gzip: bool
    etags: tuple[str, ...]
    modified_since: datetime | None
    is_moved: bool
    is_sent_on: bool


def read_request(request: web.BaseRequest, key_place: KeyPlace) -> Asked:
    raw, _, query = request.raw_path.partition("?")
    path = raw.removeprefix(MOVED).removeprefix(AGAIN)
    found = _DATA.fullmatch(path)
    endpoint, keys = UNKNOWN_ENDPOINT, ""
    if found is not None and found["endpoint"] in WRITERS:
        endpoint, keys = found["endpoint"], unquote(found["keys"])
    elif path == _CHAT:
        endpoint = CHAT
    encodings = request.headers.get("Accept-Encoding", "")
    return Asked(
        endpoint=endpoint,
        method=request.method,
        path=raw,
        target=request.raw_path,
        keys=tuple(dict.fromkeys(key for key in keys.split(",") if key)),
        api_key=_api_key(request, key_place) if query or key_place is KeyPlace.HEADER else None,
        takes_gzip="gzip" in encodings and not _NO_GZIP.search(encodings),
        etags=tuple(tag.strip() for tag in request.headers.get("If-None-Match", "").split(",") if tag.strip()),
        modified_since=_moment(request.headers.get("If-Modified-Since")),
        is_moved=raw != path,
        is_sent_on=raw.startswith(AGAIN),
    )


def _api_key(request: web.BaseRequest, place: KeyPlace) -> str | None:
    if place is KeyPlace.QUERY:
        return request.query.get("apikey")
    bearer = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    return bearer or request.headers.get("X-Api-Key")


def _moment(text: str | None) -> datetime | None:
    try:
        found = None if text is None else parsedate_to_datetime(text)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None else found
