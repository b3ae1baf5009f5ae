"""Items over HTTP: what is stored, whose it is, and waiting for what is new."""

import asyncio
from io import BytesIO
from typing import Any
from uuid import uuid4

import aiohttp
import pytest_asyncio
from pydantic_core import from_json

from livewell.access import Scope
from livewell.app import Livewell
from livewell.kernel import Database
from livewell.testing import make_access_key, make_type, put, serving, until


@pytest_asyncio.fixture(autouse=True)
async def types(owner: Database) -> None:
    """A public type, and one for who is signed in."""
    await make_type(owner, "quote", read_rule="public")
    await make_type(owner, "plan", read_rule="signed_in")


async def ask(method: str, url: str, **options: Any) -> tuple[int, Any, Any]:
    async with aiohttp.ClientSession() as session, session.request(method, url, **options) as answer:
        text = await answer.read()
        return answer.status, from_json(text) if text else None, answer.headers


async def test_an_item_is_its_value_and_its_age(app: Livewell) -> None:
    """One that is stored has value, version and age, headers that say the same, and 304 for who has it."""
    await put(app.database, "BRK.B", {"price": 1})
    async with serving(app) as served:
        url = f"{served.address}/v1/items/quote/BRK.B"
        status, item, headers = await ask("GET", url)
        assert (status, item["type"], item["key"], item["value"]) == (200, "quote", "BRK.B", {"price": 1})
        assert headers["ETag"] == f'"{item["version"]}"'
        assert item["is_stale"] is False
        assert (int(headers["Livewell-Age"]), int(headers["Livewell-Fresh"])) == (item["age"], item["fresh"])
        assert headers["Cache-Control"].startswith("private, max-age=")
        status, nothing, _ = await ask("GET", url, headers={"If-None-Match": headers["ETag"]})
        assert (status, nothing) == (304, None)
        status, item, _ = await ask("GET", f"{served.address}/v1/items/quote/MSFT")
        assert (status, item["value"], item["age"], item["is_stale"]) == (200, None, None, True)


async def test_many_items_are_one_request(app: Livewell, owner: Database) -> None:
    """Each is answered for itself, in order; what may not be seen says why, and the others are there."""
    await put(app.database, "A", {"price": 1})
    async with serving(app) as served:
        wanted = [{"type": "plan", "key": "A"}, {"type": "quote", "key": "A"}, {"type": "nothing", "key": "A"}]
        status, found, _ = await ask("POST", f"{served.address}/v1/items", json={"items": wanted})
        assert status == 200
        assert [item.get("code") for item in found["items"]] == ["access.not_readable", None, "registry.unknown_type"]
        assert found["items"][1]["value"] == {"price": 1}
        key = (await make_access_key(owner, user="ada")).key.reveal()
        signed = {"Authorization": f"Bearer {key}"}
        status, found, _ = await ask("POST", f"{served.address}/v1/items", json={"items": wanted}, headers=signed)
        assert found["items"][0]["value"] is None


async def test_who_waits_is_a_viewer_and_gets_the_next_version(app: Livewell, owner: Database) -> None:
    """With the version it has and a time to wait, a request is answered when there is another one."""
    await put(app.database, "A", {"price": 1})
    async with serving(app) as served:
        url = f"{served.address}/v1/items/quote/A"
        _, item, _ = await ask("GET", url)
        prefers = {"If-None-Match": f'"{item["version"]}"', "Prefer": "wait=20"}
        waiting = asyncio.ensure_future(ask("GET", url, headers=prefers))

        async def looks() -> bool:
            return bool(await owner.fetchval("select viewers from livewell_private.item") == 1)

        await until(looks, "whoever waits looks")
        await put(app.database, "A", {"price": 2})
        status, item, _ = await waiting
        assert (status, item["value"]) == (200, {"price": 2})
        prefers = {"If-None-Match": f'"{item["version"]}"', "Prefer": "wait=1"}
        assert (await ask("GET", url, headers=prefers))[0] == 304


async def test_what_is_wrong_is_a_problem(app: Livewell) -> None:
    """Refusals are problem documents with code and fix: types, keys, bodies, tokens, paths."""
    async with serving(app) as served:
        at = f"{served.address}/v1/items"
        bearer = {"Authorization": "Bearer nonsense"}
        for status, code, asked in [
            (404, "registry.unknown_type", ask("GET", f"{at}/qoute/A")),
            (403, "access.not_readable", ask("GET", f"{at}/plan/A")),
            (400, "live.bad_frame", ask("POST", at, json={"items": 1})),
            (400, "api.invalid_request", ask("POST", at, data=b"[1")),
            (400, "api.invalid_request", ask("POST", at, json=[])),
            (400, "api.invalid_request", ask("POST", at, data=BytesIO(b" " * 1_100_000))),
            (401, "access.invalid_credential", ask("GET", f"{at}/quote/A", headers=bearer)),
            (400, "api.invalid_request", ask("GET", f"{at}/quote/A", headers={"Authorization": "Basic eA=="})),
            (404, "api.invalid_request", ask("GET", f"{served.address}/nowhere")),
            (405, "api.invalid_request", ask("DELETE", f"{at}/quote/A")),
        ]:
            found = await asked
            assert (found[0], found[1]["code"]) == (status, code), found
            assert found[2]["Content-Type"] == "application/problem+json"


async def test_a_session_over_http_is_exactly_its_list(app: Livewell, owner: Database) -> None:
    """PUT says what is looked at, twice is once; what is left out ends; DELETE ends all of it, twice is once."""
    looked = "select coalesce(array_agg(key order by key), '{}') from livewell_private.item where viewers > 0"
    async with serving(app) as served:
        url = f"{served.address}/v1/sessions/{uuid4()}"
        for keys in (["A", "B"], ["A", "B"], ["B", "C"]):
            items = [{"type": "quote", "key": key} for key in keys]
            status, told, _ = await ask("PUT", url, json={"items": [*items, {"type": "plan", "key": "A"}]})
            assert status == 200
            assert [item["outcome"] for item in told["items"]][-1] == "refused"
            assert await owner.fetchval(looked) == keys
        key = (await make_access_key(owner, user="ada")).key.reveal()
        signed = {"Authorization": f"Bearer {key}"}
        assert (await ask("PUT", url, json={"items": []}, headers=signed))[0] == 403
        assert (await ask("DELETE", url, headers=signed))[0] == 403
        for _ in range(2):
            assert (await ask("DELETE", url))[0] == 204
            assert await owner.fetchval(looked) == []
        assert (await ask("PUT", f"{served.address}/v1/sessions/mine", json={"items": []}))[0] == 422


async def test_events_stream_what_is_new(app: Livewell) -> None:
    """A POST with the whole list is answered by events: a hello, the rows, and each that comes."""
    await put(app.database, "A", {"price": 1})
    async with serving(app) as served, aiohttp.ClientSession() as session:
        body = {"items": [{"type": "quote", "key": "A"}]}
        async with session.post(f"{served.address}/v1/live/stream", json=body) as answer:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            assert (answer.headers["X-Accel-Buffering"], answer.headers["Cache-Control"]) == (
                "no",
                "no-store, no-transform",
            )
            frames: list[dict[str, Any]] = []

            async def row() -> Any:
                async with asyncio.timeout(20):
                    while not any(frame["frame"] == "row" for frame in frames):
                        line = await answer.content.readline()
                        if line.startswith(b"data: "):
                            frames.extend(from_json(line[6:]))
                found = next(frame for frame in frames if frame["frame"] == "row")
                frames.clear()
                return found["value"]

            assert await row() == {"price": 1}
            await put(app.database, "A", {"price": 2})
            assert await row() == {"price": 2}
        async with session.post(f"{served.address}/v1/live/stream", json={"items": 1}) as answer:
            assert answer.status == 400

        async def left() -> bool:
            return not served.gateway.clients

        await until(left, "whoever hung up is gone")


async def test_what_is_pushed_is_stored_by_who_may(app: Livewell, owner: Database) -> None:
    """A service puts rows, each is answered for itself; others are refused, and what is no row is said."""
    await make_type(owner, "price", read_rule="public", fields='{"amount": {"type": "number"}}')
    async with serving(app) as served:
        url = f"{served.address}/v1/items/price"
        rows = {"rows": {"A": {"amount": 1}, "B": {"amount": "many"}}}
        assert (await ask("PUT", url, json=rows))[0] == 403
        users = (await make_access_key(owner, user="ada")).key.reveal()
        assert (await ask("PUT", url, json=rows, headers={"Authorization": f"Bearer {users}"}))[0] == 403
        service = (await make_access_key(owner, scopes=[Scope.SERVICE])).key.reveal()
        signed = {"Authorization": f"Bearer {service}"}
        status, told, _ = await ask("PUT", url, json=rows, headers=signed)
        assert status == 200
        assert [(item["key"], item["outcome"]) for item in told["items"]] == [("A", "fetched"), ("B", "refused")]
        assert (await ask("GET", f"{url}/A"))[1]["value"] == {"amount": 1}
        assert (await ask("PUT", url, json={"rows": 1}, headers=signed))[0] == 400
        assert (await ask("PUT", f"{served.address}/v1/items/qoute", json=rows, headers=signed))[0] == 404
