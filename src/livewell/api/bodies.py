"""What a request brings, read with bounds, and how an answer of ours looks."""

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response
from pydantic_core import from_json, to_json

from livewell.access import Doorkeeper, Scope
from livewell.api.errors import InvalidRequest, NotAllowed
from livewell.kernel import LivewellError

LARGEST_BODY = 1024 * 1024
_BODY_WITHIN = 20.0
_COME_BACK = {429, 503}


def bearer_of(request: Request) -> str | None:
    """The token or access key of a request; it is in its header and nowhere else."""
    header = request.headers.get("authorization")
    if header is None:
        return None
    scheme, _, credential = header.partition(" ")
    if scheme.lower() != "bearer" or not credential.strip():
        raise InvalidRequest("Authorization is not of the kind Bearer", fix="Authorization: Bearer TOKEN")
    return credential.strip()


async def require_scope(doorkeeper: Doorkeeper, request: Request, scopes: set[Scope]) -> None:
    """Let through who has one of these scopes.

    Raises:
        NotAllowed: whoever asks has none of them.

    """
    principal = await doorkeeper.admit(bearer_of(request))
    if not principal.scopes & scopes:
        raise NotAllowed(
            f"this needs one of the scopes {', '.join(sorted(scopes))}",
            fix="livewell access key NAME --scope …, and Authorization: Bearer KEY",
        )


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""


async def read_json(request: Request) -> dict[str, Any]:
    """The body of a request, a JSON object of bounded size.

    Raises:
        InvalidRequest: it is none, too large, or does not come in time.

    """
    parts, size = [], 0
    try:
        async with asyncio.timeout(_BODY_WITHIN):
            async for part in request.stream():
                size += len(part)
                if size > LARGEST_BODY:
                    raise InvalidRequest(f"a body has at most {LARGEST_BODY} bytes")
                parts.append(part)
    except TimeoutError as error:
        raise InvalidRequest("the body did not come in time") from error
    try:
        document = from_json(b"".join(parts))
    except ValueError as error:
        raise InvalidRequest("the body is not JSON", fix="send a JSON object") from error
    if not isinstance(document, dict):
        raise InvalidRequest("the body is not a JSON object")
    return document


def answer(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(to_json(document), status, dict(headers or {}), "application/json")


def problem(status: int, fact: LivewellError) -> Response:
    """A fact as HTTP tells it."""
    told = {"type": fact.code, "status": status, "code": fact.code, "message": fact.message, "fix": fact.fix}
    headers = {"Cache-Control": "no-store"} | ({"Retry-After": "2"} if status in _COME_BACK else {})
    return Response(to_json(told), status, headers, "application/problem+json")
