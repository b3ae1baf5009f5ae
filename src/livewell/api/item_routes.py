"""`/v1/items`: what is stored of items, one or many, and waiting for what is new.

Whoever waits looks: for that long the request is a viewer, and the item is kept fresh for it.
"""

import asyncio
import re
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic_core import from_json, to_json

from livewell.access import Doorkeeper, Scope
from livewell.api.bodies import address_of, answer, bearer_of, read_json, require_scope
from livewell.api.errors import InvalidRequest
from livewell.fetching import Items
from livewell.kernel import LivewellError
from livewell.live import ClientHello, Desk, Gateway, ItemTold, Wanted, wanted_of
from livewell.presence import Item

_MOST_AT_ONCE = 100
_LONGEST_WAIT = 60
_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,4})\"?", re.IGNORECASE)


def item_routes(gateway: Gateway, desk: Desk, items: Items, doorkeeper: Doorkeeper) -> APIRouter:
    """The routes of items."""
    routes = APIRouter()

    @routes.put("/v1/items/{data_type}")
    async def push(request: Request, data_type: str) -> Response:
        """Store what was pushed, `{"rows": …}`: a list of rows, or rows by key; what became of each key."""
        await require_scope(doorkeeper, request, {Scope.SERVICE})
        rows = (await read_json(request)).get("rows")
        if not isinstance(rows, list | dict):
            raise InvalidRequest('"rows" is a list of rows, or an object of rows by key')
        found = await items.put(data_type, rows)
        return answer({"items": [{"key": put.key, "outcome": put.outcome, "reason": put.reason} for put in found]})

    @routes.get("/v1/items/{data_type}/{key:path}")
    async def one(request: Request, data_type: str, key: str) -> Response:
        """What is stored of an item; with `Prefer: wait=20` and `If-None-Match`, as soon as it is another version."""
        item, has = Item(data_type, key), _held(request)
        told = await _now(desk, request, item)
        if told.version == has and await _other_came(gateway, request, item, has):
            told = await _now(desk, request, item)
        headers = _headers(told)
        if told.version == has:
            return Response(status_code=304, headers=headers)
        return Response(_document(item, told), 200, headers, "application/json")

    @routes.post("/v1/items")
    async def many(request: Request) -> Response:
        """What is stored of many items, `{"items": [{"type", "key"}, …]}`, in their order; what is refused says why."""
        wanted = wanted_of(await read_json(request))
        if len(wanted) > _MOST_AT_ONCE:
            raise InvalidRequest(f"at most {_MOST_AT_ONCE} items in one request")
        found = await desk.read(bearer_of(request), [want.item for want in wanted])
        documents = [_document(want.item, found[want.item]) for want in wanted]
        return Response(
            b'{"items":[' + b",".join(documents) + b"]}",
            200,
            {"Cache-Control": "private, no-cache"},
            "application/json",
        )

    return routes


async def _now(desk: Desk, request: Request, item: Item) -> ItemTold:
    found = (await desk.read(bearer_of(request), [item]))[item]
    if isinstance(found, LivewellError):
        raise found
    return found


async def _other_came(gateway: Gateway, request: Request, item: Item, has: str) -> bool:
    """Look at an item for as long as is asked for, until it is of another version; false when the time is up."""
    seconds = _wait(request)
    if not seconds:
        return False
    first = ClientHello(token=bearer_of(request), items=[Wanted(item=item, version=has)])
    try:
        async with asyncio.timeout(seconds), gateway.admitted(first, address=address_of(request)) as client:
            while (message := await client.next()) is not None:
                frames: list[dict[str, Any]] = from_json(message)
                if any(frame["frame"] == "row" and frame["version"] != has for frame in frames):
                    return True
    except TimeoutError:
        pass
    return False


def _held(request: Request) -> str:
    """The version that whoever asks has; quotes and weakness are HTTP's."""
    return request.headers.get("if-none-match", "").removeprefix("W/").strip('"')


def _wait(request: Request) -> int:
    found = _WAIT.search(request.headers.get("prefer", ""))
    return min(int(found[1]), _LONGEST_WAIT) if found else 0


def _headers(told: ItemTold) -> dict[str, str]:
    ages = {"Livewell-Age": told.age, "Livewell-Fresh": told.fresh}
    age = {} if told.age is None else {"Age": str(told.age // 1000)}
    return {
        "ETag": f'"{told.version}"',
        "Cache-Control": f"private, max-age={max(0, (told.fresh or 0) // 1000)}",
        "Vary": "Authorization",
        **age,
        **{name: str(ms) for name, ms in ages.items() if ms is not None},
    }


def _document(item: Item, told: ItemTold | LivewellError) -> bytes:
    """An item as JSON; its value is text of the database already."""
    if isinstance(told, LivewellError):
        return to_json(
            {"type": item.type, "key": item.key, "code": told.code, "message": told.message, "fix": told.fix}
        )
    said = to_json(
        {
            "type": item.type,
            "key": item.key,
            "version": told.version,
            "age": told.age,
            "fresh": told.fresh,
            "is_stale": told.fresh is None or told.fresh < 0,
            "state": {"is": told.state, "for": told.waiting_for, "until": told.until},
        }
    )
    return said[:-1] + b',"value":' + (b"null" if told.value is None else told.value.encode()) + b"}"
