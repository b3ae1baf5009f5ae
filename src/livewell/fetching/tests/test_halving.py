"""A key among several that the provider does not have is found, and the others are fetched."""

import json
from collections.abc import Sequence

import pytest

from livewell.budgets import PermitExpired
from livewell.fetching import Asked, Client, Fetched, FetchFailed, Fetching, Gone
from livewell.fetching.tests.servers import RawServer, answer, serve
from livewell.fetching.tests.stage import NOW, a_source, fetch, quote

KEYS = tuple(f"K{n}" for n in range(20))


def without(*gone: str, status: str = "404 Not Found") -> "Provider":
    return Provider(gone, status)


class Provider:
    """Answers for all keys that are asked for, or says that something about them is wrong."""

    def __init__(self, gone: Sequence[str], status: str) -> None:
        self._gone = set(gone)
        self._status = status

    def __call__(self, head: str) -> bytes:
        keys = asked_in(head)
        if self._gone & set(keys):
            return answer(b"no such thing", status=self._status)
        return answer(json.dumps([quote(key) for key in keys]).encode())


def asked_in(head: str) -> list[str]:
    return head.split(" ")[1].removeprefix("/quote/").split(",")


async def outcomes(server: RawServer, keys: Sequence[str] = KEYS) -> dict[str, type]:
    found = await fetch(a_source(server, keys_per_request=20), keys)
    assert sum(answer.bytes or 0 for answer in found) == server.sent
    assert all(answer.sent for answer in found)
    return {answer.key: type(answer.outcome) for answer in found}


@pytest.mark.parametrize("gone", [KEYS[0], KEYS[7], KEYS[19]])
@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone"])
async def test_the_one_that_is_gone_is_found(gone: str, status: str) -> None:
    """In halves, so that it takes ten requests at most; the others are fetched, and every byte is somebody's."""
    async with serve(without(gone, status=status)) as server:
        assert await outcomes(server) == {**dict.fromkeys(KEYS, Fetched), gone: Gone}
        assert len(server.heads) <= 1 + 10


@pytest.mark.parametrize("status", ["400 Bad Request", "422 Unprocessable Content", "414 URI Too Long"])
async def test_a_key_that_spoils_a_request_fails_alone(status: str) -> None:
    """What the provider objects to is not gone: it is failed, and the others are fetched."""
    async with serve(without("K3", status=status)) as server:
        assert await outcomes(server) == {**dict.fromkeys(KEYS, Fetched), "K3": FetchFailed}


@pytest.mark.parametrize("status", ["500 Internal Server Error", "503 Service Unavailable", "403 Forbidden"])
async def test_what_is_not_about_keys_is_asked_once(status: str) -> None:
    """A provider that is down, or does not let anybody in, is not asked again and again."""
    async with serve(without("K3", status=status)) as server:
        assert await outcomes(server) == dict.fromkeys(KEYS, FetchFailed)
        assert len(server.heads) == 1


async def test_where_nothing_is_there_nothing_is_gone() -> None:
    """A path that is wrong says 404 to everything: the keys are failed, after a bounded number of requests."""
    async with serve(without(*KEYS)) as server:
        assert await outcomes(server) == dict.fromkeys(KEYS, FetchFailed)
        assert len(server.heads) == 1 + 10


async def test_several_that_are_gone_are_found_as_far_as_it_goes() -> None:
    """What is not known after as many requests as one key takes is failed, never taken for gone."""
    gone = {"K0", "K6", "K12", "K19"}
    async with serve(without(*gone)) as server:
        found = await outcomes(server)
        assert {key for key, outcome in found.items() if outcome is Gone} <= gone
        assert {key for key, outcome in found.items() if outcome is Fetched} <= set(KEYS) - gone
        assert Fetched in found.values()
        assert len(server.heads) == 1 + 10


async def test_each_request_asks_for_its_permission() -> None:
    """Where it is not given, those that are left are failed as they were, and nothing more is sent."""
    permitted = 0

    async def sending() -> None:
        nonlocal permitted
        if permitted == 2:
            raise PermitExpired("too late")
        permitted += 1

    async with serve(without("K0")) as server, Client() as client:
        engine = Fetching(client, clock=lambda: NOW)
        found = await engine.fetch(
            a_source(server, keys_per_request=20), [Asked(data_type="quote", key=key) for key in KEYS], sending=sending
        )
        assert len(server.heads) == 2
        assert sum(answer.bytes or 0 for answer in found) == server.sent
    (failed,) = {answer.outcome for answer in found if isinstance(answer.outcome, FetchFailed)}
    assert failed == FetchFailed(reason="status", message="HTTP 404", status=404)
    assert [answer.key for answer in found if isinstance(answer.outcome, Fetched)] == list(KEYS[10:])
