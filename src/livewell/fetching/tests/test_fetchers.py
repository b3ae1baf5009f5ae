"""Fetchers, declared and written, are treated alike, and cannot forget anything."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from livewell.budgets import PermitExpired, Secret
from livewell.fetching import (
    Asked,
    Call,
    CallEnded,
    Client,
    Fetched,
    Fetcher,
    FetchFailed,
    Fetching,
    FetchThrottled,
    Model,
    Refused,
    UnsoundFetch,
    bounded,
    source_of,
)
from livewell.fetching.tests.servers import answer, serve
from livewell.fetching.tests.stage import FIELDS, a_provider, a_source, a_type, an_endpoint, fetch, quote


class Quote(Model):
    symbol: str
    price: float = bounded(gt=0)
    timestamp: int


class QuoteFetcher(Fetcher[Quote]):
    key = "symbol"

    async def fetch(self, call: Call) -> Sequence[Any]:
        return await call.get(f"/quote/{','.join(call.keys)}").items("$[*]")


def body(*rows: Any, **options: Any) -> bytes:
    return answer(json.dumps(rows).encode(), **options)


async def test_a_written_fetcher_gets_what_a_declared_one_gets() -> None:
    """Rows read by its model, keys told apart, bytes shared out."""
    async with serve(lambda _: body(quote("A"), quote("B", price=-1))) as server:
        answers = await fetch(a_source(server, fetcher=QuoteFetcher, keys_per_request=2), ("A", "B"))
        assert [type(answer.outcome) for answer in answers] == [Fetched, Refused]
        assert sum(answer.bytes or 0 for answer in answers) == server.sent


async def test_a_fetcher_by_its_path() -> None:
    """`model = "package.module:Class"` names a fetcher, or the model of a declared one."""
    async with serve(lambda _: body(quote())) as server:
        here = "livewell.fetching.tests.test_fetchers"
        for path, call in ((f"{here}:QuoteFetcher", None), (f"{here}:Quote", {"path": "/q/{key}"})):
            source = a_source(server, model=path, fetch_call=call, fields=None)
            assert isinstance((await fetch(source))[0].outcome, Fetched)


class Swallowing(QuoteFetcher):
    async def fetch(self, call: Call) -> Sequence[Any]:
        try:
            return await call.get(f"/quote/{call.key}").items()
        except CallEnded:
            return [quote()]


async def test_an_outcome_cannot_be_swallowed() -> None:
    """A fetcher that makes rows of a 429 is throttled all the same."""
    async with serve(lambda _: answer(b"", status="429 Slow")) as server:
        assert isinstance((await fetch(a_source(server, fetcher=Swallowing)))[0].outcome, FetchThrottled)


class Idle(QuoteFetcher):
    async def fetch(self, call: Call) -> Sequence[Any]:  # noqa: ARG002 - that is its fault
        return [quote()]


class Broken(QuoteFetcher):
    async def fetch(self, call: Call) -> Sequence[Any]:  # noqa: ARG002 - it does not come to that
        raise ZeroDivisionError("\0 oh")


class Climbing(QuoteFetcher):
    async def fetch(self, call: Call) -> Sequence[Any]:
        return await call.get("/../admin").items()


@pytest.mark.parametrize("fetcher", [Idle, Broken, Climbing])
async def test_a_fetcher_that_fails_fails_its_keys(fetcher: type[Fetcher[Any]]) -> None:
    """It raised, asked nothing, or asked for what is not below its base URL: nothing is sent."""
    async with serve(lambda _: body(quote())) as server:
        found = (await fetch(a_source(server, fetcher=fetcher)))[0]
        assert isinstance(found.outcome, FetchFailed | Refused)
        assert (found.sent, found.bytes, server.heads) == (False, None, [])


class Reaching(QuoteFetcher):
    async def fetch(self, call: Call) -> Sequence[Any]:
        reached = [name for name in dir(call) if not name.startswith("__") and "asking" not in name]
        assert sorted(reached) == ["ask", "data_type", "get", "key", "keys"]
        return await call.get(f"/quote/{call.key}").items()


async def test_a_fetcher_is_given_no_client() -> None:
    """All it can do is ask for a path."""
    async with serve(lambda _: body(quote())) as server:
        assert isinstance((await fetch(a_source(server, fetcher=Reaching)))[0].outcome, Fetched)


@pytest.mark.parametrize(
    ("key_in", "expected"),
    [("query:apikey", "/quote/AAPL?apikey=s%26cret"), ("header:X-Key", "X-Key: s&cret"), ("bearer", "Bearer s&cret")],
)
async def test_a_key_travels_as_the_provider_wants_it(key_in: str, expected: str) -> None:
    """In the query, a header or as a bearer; without a key nothing is sent."""
    async with serve(lambda _: body(quote())) as server:
        source = a_source(server, provider={"key_in": key_in})
        await fetch(source, secret=Secret("s&cret"))
        assert expected in server.heads[0]
        found = (await fetch(source))[0]
        assert isinstance(found.outcome, FetchFailed)
        assert (found.outcome.reason, found.sent, len(server.heads)) == ("no_key", False, 1)


async def test_each_request_asks_permission() -> None:
    """Pages and redirects count at the provider; one that is not permitted is not sent."""
    asked = 0

    async def sending() -> None:
        nonlocal asked
        asked += 1
        if asked > 2:
            raise PermitExpired("too late")

    call = {"path": "/quote/{key}", "rows": "many", "page": {"parameter": "page"}}
    async with serve(lambda _: body(quote())) as server, Client() as client:
        source = a_source(server, fetch_call=call)
        found = (await Fetching(client).fetch(source, [Asked(data_type="quote", key="A")], sending=sending))[0]
        assert isinstance(found.outcome, FetchFailed)
        assert (found.outcome.reason, found.sent, found.bytes) == ("unsent", True, server.sent)
        assert server.paths == ["/quote/A?page=1", "/quote/A?page=2"]


async def test_pages_are_read_to_their_end() -> None:
    """Counted until one is empty, or led on by what a page says is next; what does not end is refused."""

    def counted(head: str) -> bytes:
        number = int(head.split("page=")[1].split(" ", maxsplit=1)[0])
        return body(*([quote(price=number)] if number < 3 else []))

    def led(head: str) -> bytes:
        at = head.split("cursor=")[1].split(" ", maxsplit=1)[0] if "cursor=" in head else "a"
        return answer(json.dumps({"rows": [quote(price=ord(at))], "next": {"a": "b", "b": ""}[at]}).encode())

    call = {"path": "/quote/{key}", "key": "symbol", "rows": "many", "page": {"parameter": "page"}}
    async with serve(counted) as server:
        found = (await fetch(a_source(server, fetch_call=call)))[0].outcome
        assert isinstance(found, Fetched)
        assert [row["price"] for row in found.rows] == [1, 2]
        short = (await fetch(a_source(server, fetch_call={**call, "page": {"parameter": "page", "most": 1}})))[
            0
        ].outcome
        assert isinstance(short, Refused)
    async with serve(led) as server:
        page = {"parameter": "cursor", "next": "$.next"}
        found = (await fetch(a_source(server, fetch_call={**call, "items": "$.rows[*]", "page": page})))[0].outcome
        assert isinstance(found, Fetched)
        assert (len(found.rows), server.paths) == (2, ["/quote/AAPL", "/quote/AAPL?cursor=b"])


async def test_query_and_headers_are_sent() -> None:
    """As they are declared, keys in their place."""
    call = {"path": "/quote", "query": {"symbols": "{keys}", "of": "a b"}, "headers": {"X-Of": "us"}, "key": "symbol"}
    async with serve(lambda _: body(quote("A"), quote("B"))) as server:
        answers = await fetch(a_source(server, fetch_call=call, keys_per_request=2), ("A", "B"))
        assert [type(answer.outcome) for answer in answers] == [Fetched, Fetched]
        assert server.paths == ["/quote?symbols=A%2CB&of=a%20b"]
        assert "X-Of: us" in server.heads[0]


async def test_many_keys_are_asked_in_as_many_requests_as_it_takes() -> None:
    """Never more keys in one than the type says; each key has its answer, in order, one asked twice too."""
    async with serve(lambda head: body(*map(quote, head.split(" ")[1].rpartition("/")[2].split(",")))) as server:
        keys = ("A", "B", "C", "D", "E", "A")
        answers = await fetch(a_source(server, keys_per_request=2), keys)
        assert server.paths == ["/quote/A,B", "/quote/C,D", "/quote/E"]
        assert tuple(answer.key for answer in answers) == keys
        assert all(isinstance(answer.outcome, Fetched) for answer in answers)
        assert sum(answer.bytes or 0 for answer in answers) == server.sent


class Loose(QuoteFetcher):
    class Anything(Model, extra="allow"):
        symbol: str

    model = Anything


class Modelless(Fetcher[Any]):
    pass


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fetch_call": None}, "nothing says how"),
        ({"fetch_call": {"path": "/quote"}}, "{key}"),
        ({"fetch_call": {"path": "quote/{key}"}}, "begin"),
        ({"fetch_call": {"path": "/{symbol}"}}, "{symbol}"),
        ({"fetch_call": {"path": "/{key}", "items": "$..x"}}, "path"),
        ({"fetch_call": {"path": "/{key}", "headers": {"Host": "x"}}}, "header"),
        ({"fields": {}}, "no fields"),
        ({"fields": {"x": {"type": "text"}}}, "x.type"),
        ({"fields": {**FIELDS, "at": {"type": "date", "source_time": True}}}, "both source_time"),
        ({"fields": {"x": {"type": "string"}}, "source_rule": "newer"}, "no field is one"),
        ({"fetch_call": {"path": "/{keys}"}, "keys_per_request": 5}, "whose a row is"),
        ({"model": "no.such:Thing"}, "cannot be imported"),
        ({"model": "json:loads"}, "neither a model nor a fetcher"),
        ({"model": "missing.json", "fields": None}, "cannot be read"),
        ({"fetcher": Loose}, "takes fields it does not know"),
        ({"fetcher": Modelless}, "no model"),
        ({"provider": {"base_url": None}}, "no base_url"),
        ({"provider": {"allow_private": False}}, "public internet"),
        ({"provider": {"base_url": "http://u:p@127.0.0.1/"}}, "plain http"),
        ({"provider": {"key_in": "cookie"}}, "key_in"),
    ],
)
def test_a_type_that_cannot_be_fetched_is_found_before_anything_is_sent(changes: dict[str, Any], said: str) -> None:
    """With a fact that says what is wrong."""
    fetcher, provider = changes.pop("fetcher", None), changes.pop("provider", {})
    with pytest.raises(UnsoundFetch) as raised:
        source_of(
            a_type(**changes),
            a_provider(**{"base_url": "http://127.0.0.1/", **provider}),
            an_endpoint(),
            fetcher=fetcher,
        )
    assert said in str(raised.value)


def test_source_time_may_be_the_column_of_the_type() -> None:
    """A model of one's own needs no mark for it."""

    class Dated(Model):
        symbol: str
        as_of: datetime

    class DatedFetcher(Fetcher[Dated]):
        pass

    source = source_of(
        a_type(source_time_column="as_of"), a_provider("http://127.0.0.1/"), an_endpoint(), fetcher=DatedFetcher
    )
    assert source.rules.reader.source_time == "as_of"
