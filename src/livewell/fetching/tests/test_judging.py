"""An answer is believed when all of it holds, and each key gets its own outcome."""

import json
from typing import Any

import pytest

from livewell.fetching import Fetched, FetchFailed, FetchOutcome, FetchThrottled, Gone, Refused, Unchanged
from livewell.fetching.judge import share_out
from livewell.fetching.tests.servers import RESET, answer, serve
from livewell.fetching.tests.stage import FIELDS, NOW, a_source, fetch, quote


async def outcome_of(content: bytes, *, keys: tuple[str, ...] = ("AAPL",), **changes: Any) -> FetchOutcome:
    async with serve(lambda _: content) as server:
        return (await fetch(a_source(server, **changes), keys))[0].outcome


def body(*rows: Any) -> bytes:
    return answer(json.dumps(rows).encode())


async def test_an_answer_that_holds_is_fetched() -> None:
    """Its rows are as the model has them, with the source's time and a hash of what they say."""
    found = await outcome_of(body(quote()))
    assert isinstance(found, Fetched)
    assert found.rows[0]["price"] == 190.12
    assert found.source_time == found.rows[0]["timestamp"]
    assert len(found.content_hash) == 32


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (quote(price="190.12"), "schema"),
        (quote(price=None), "schema"),
        (quote(price=True), "schema"),
        (quote(price=-1), "bounds"),
        (quote(price=0), "bounds"),
        (quote(price=1e300), "bounds"),
        (quote(extra=1), "schema"),
        ({"symbol": "AAPL", "price": 1, "time": 1}, "missing_source_time"),
        ({"symbol": "AAPL", "last": 1, "timestamp": 1}, "schema"),
        (quote(timestamp="2026-11-16"), "schema"),
        (quote(timestamp=1e17), "bounds"),
        (quote(timestamp=int(NOW.timestamp()) + 200_000), "bounds"),
        (quote("MSFT"), "wrong_key"),
        (quote("aapl"), "wrong_key"),
        ({"ticker": "AAPL", "price": 1, "timestamp": 1}, "schema"),
        ([1, 2], "schema"),
        (None, "schema"),
        ("AAPL", "schema"),
    ],
)
async def test_a_row_that_does_not_hold_is_refused(row: Any, reason: str) -> None:
    """Retyped, missing, renamed, unknown, absurd, from the future, of another key: never a NULL."""
    found = await outcome_of(body(row))
    assert isinstance(found, Refused)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (answer(b""), "empty"),
        (answer(b"  \n"), "empty"),
        (answer(b"[]"), "empty"),
        (answer(b"", status="204 No Content"), "empty"),
        (answer(b"[{"), "not_json"),
        (answer(b'[{"symbol": "AAPL", "price": NaN, "timestamp": 1}]'), "not_json"),
        (answer(b'[{"symbol": "AAPL", "price": Infinity, "timestamp": 1}]'), "not_json"),
        (answer(b'[{"symbol": "AAPL", "price": 1e999, "timestamp": 1}]'), "bounds"),
        (answer(b"[" * 10_000), "not_json"),
        (answer(b"[" * 100_000), "too_large"),
        (answer(b'["\xff"]'), "not_json"),
        (answer(b"{}"), "schema"),
        (answer(b'{"error": "limit reached"}'), "schema"),
        (answer(b"null"), "schema"),
        (answer(b"<html>", headers=["Content-Type: text/html"]), "wrong_type"),
        (answer(b"[]", headers=["Content-Type: application/json; charset=latin-1"]), "encoding"),
        (body(quote(), quote()), "duplicate_rows"),
        (body(quote(), quote("MSFT")), "wrong_key"),
    ],
)
async def test_a_200_that_is_no_answer_is_refused(content: bytes, reason: str) -> None:
    """Empty, broken, another type, another shape, twice the same: a 200 proves nothing."""
    found = await outcome_of(content)
    assert isinstance(found, Refused)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("404 Not Found", Gone(message="HTTP 404")),
        ("410 Gone", Gone(message="HTTP 410")),
        ("429 Too Many Requests", FetchThrottled(seconds=7.0, message="HTTP 429")),
        ("500 Internal Server Error", FetchFailed(reason="status", message="HTTP 500", status=500)),
        ("408 Request Timeout", FetchFailed(reason="status", message="HTTP 408", status=408)),
        ("400 Bad Request", FetchFailed(reason="status", message="HTTP 400", status=400)),
        (
            "401 Unauthorized",
            FetchFailed(reason="unauthorized", message="HTTP 401: the API key is not accepted", status=401),
        ),
        ("201 Created", FetchFailed(reason="status", message="HTTP 201", status=201)),
    ],
)
async def test_a_status_is_an_outcome(status: str, expected: FetchOutcome) -> None:
    """Gone, throttled for as long as it says, or failed; only 200 is read."""
    assert await outcome_of(answer(b"[]", status=status, headers=["Retry-After: 7"])) == expected


async def test_a_missing_batch_is_not_gone() -> None:
    """A 404 for several keys does not say which; where none of them is there, it is something else that is wrong."""
    found = await outcome_of(answer(b"", status="404 Not Found"), keys=("A", "B"), keys_per_request=2)
    assert found == FetchFailed(reason="status", message="HTTP 404", status=404)


async def test_one_bad_row_refuses_its_key_only() -> None:
    """The others of the batch are fetched; a key that is not there is refused; strangers are warned about."""
    rows = [quote("A"), quote("B", price=-1), quote("C"), quote("X")]
    async with serve(lambda _: body(*rows)) as server:
        source = a_source(server, keys_per_request=20)
        answers = await fetch(source, ("A", "B", "C", "D"))
        assert server.paths == ["/quote/A,B,C,D"]
        found = {answer.key: answer.outcome for answer in answers}
        assert isinstance(found["A"], Fetched)
        assert isinstance(found["C"], Fetched)
        assert [outcome.reason for outcome in found.values() if isinstance(outcome, Refused)] == [
            "bounds",
            "missing_key",
        ]
        assert [warning.code for warning in answers[0].warnings] == ["unasked_rows"]
        assert sum(answer.bytes or 0 for answer in answers) == server.sent


async def test_a_key_that_is_not_there_may_be_gone() -> None:
    """Where the type says `absent = "gone"`."""
    fetch_call = {"path": "/quote/{keys}", "key": "symbol", "absent": "gone"}
    async with serve(lambda _: body(quote("A"))) as server:
        answers = await fetch(a_source(server, keys_per_request=2, fetch_call=fetch_call), ("A", "B"))
        assert [type(answer.outcome) for answer in answers] == [Fetched, Gone]


async def test_a_refresh_of_another_type_is_refused() -> None:
    """Nothing is sent for it, and it keeps nobody else back."""
    async with serve(lambda _: body(quote())) as server:
        source = a_source(server, name="profile")
        found = (await fetch(source))[0]
        assert isinstance(found.outcome, Refused)
        assert (found.outcome.reason, found.sent, server.heads) == ("other_type", False, [])


@pytest.mark.parametrize("key", ["../admin", "..", "", "A" * 257, "A\r\nX: y", "A\x1b[2J", "A\u202eB", "\ud800"])
async def test_a_key_that_is_none_is_not_sent(key: str) -> None:
    """What can be no key of any type is not put into a URL; what is one of this type PostgreSQL has decided."""
    async with serve(lambda _: body(quote())) as server:
        found = (await fetch(a_source(server), (key,)))[0]
        assert isinstance(found.outcome, Refused)
        assert (found.outcome.reason, server.heads) == ("invalid_key", [])


async def test_a_key_is_encoded_into_its_place() -> None:
    """Whatever a pattern allows, a key stays one part of the path; one that would climb is refused."""
    async with serve(lambda _: body(quote("^GSPC"))) as server:
        assert isinstance((await fetch(a_source(server), ("^GSPC",)))[0].outcome, Fetched)
        await fetch(a_source(server, key_pattern="^.*$"), ("a/b?c#d%2e",))
        assert server.paths == ["/quote/%5EGSPC", "/quote/a%2Fb%3Fc%23d%252e"]
        found = (await fetch(a_source(server, key_pattern="^.*$"), ("..",)))[0]
        assert isinstance(found.outcome, Refused)
        assert len(server.heads) == 2


async def test_an_unchanged_answer_is_a_success() -> None:
    """A single key is asked for conditionally, and 304 says that what is stored still holds."""
    content = b'HTTP/1.1 304 Not Modified\r\nETag: "b"\r\n\r\n'
    async with serve(lambda _: content) as server:
        found = (await fetch(a_source(server), etag='"a"', last_modified="Mon, 16 Nov 2026 11:00:00 GMT"))[0]
        assert found.outcome == Unchanged(why="not_modified", etag='"b"')
        assert 'If-None-Match: "a"' in server.heads[0]
        assert "If-Modified-Since: Mon, 16 Nov 2026 11:00:00 GMT" in server.heads[0]
        assert found.bytes == server.sent


async def test_a_mark_is_kept_for_one_key_only() -> None:
    """What stands for several keys cannot say of one that it is unchanged."""
    content = answer(json.dumps([quote("A"), quote("B")]).encode(), headers=['ETag: "x"'])
    async with serve(lambda _: content) as server:
        answers = await fetch(a_source(server, keys_per_request=2), ("A", "B"), etag='"old"')
        assert [getattr(answer.outcome, "etag", "?") for answer in answers] == [None, None]
        assert "If-None-Match" not in server.heads[0]
        single = (await fetch(a_source(server, fetch_call={"path": "/q/{key}", "rows": "many"})))[0].outcome
        assert isinstance(single, Fetched)
        assert single.etag == '"x"'


async def test_rate_headers_are_facts() -> None:
    """What the answer says of limits is told with the first key, a failed answer too."""
    content = answer(b"", status="503 Busy", headers=["X-RateLimit-Limit: 300", "X-RateLimit-Remaining: 12"])
    async with serve(lambda _: content) as server:
        answers = await fetch(a_source(server, keys_per_request=2), ("A", "B"))
        assert answers[0].rate is not None
        assert answers[0].rate["limits"][0]["remaining"] == 12
        assert answers[1].rate is None


async def test_a_missing_length_is_warned_about() -> None:
    """Bytes are counted all the same."""
    async with serve(lambda _: answer(json.dumps([quote()]).encode(), length=None)) as server:
        found = (await fetch(a_source(server)))[0]
        assert isinstance(found.outcome, Fetched)
        assert [warning.code for warning in found.warnings] == ["content_length_missing"]
        assert found.bytes == server.sent


async def test_a_failed_call_is_counted_and_sent() -> None:
    """Nothing arrived, but it went out."""
    async with serve(lambda _: RESET) as server:
        found = (await fetch(a_source(server)))[0]
        assert isinstance(found.outcome, FetchFailed)
        assert (found.outcome.reason, found.bytes, found.sent) == ("reset", 0, True)


async def test_a_hash_is_of_what_is_said() -> None:
    """Not of when it is from, what is volatile, nor the order of rows or members."""
    fields = {**FIELDS, "volume": {"type": "integer", "volatile": True}, "more": {"type": "json"}}

    async def hash_of(*rows: Any) -> bytes:
        call = {"path": "/quote/{keys}", "key": "symbol", "rows": "many"}
        found = await outcome_of(body(*rows), fields=fields, fetch_call=call)
        assert isinstance(found, Fetched), found
        return found.content_hash

    a: dict[str, Any] = {"more": {"x": 1, "y": 2}, "volume": 1}
    b: dict[str, Any] = {"more": {"y": 2, "x": 1}, "volume": 2}
    first = await hash_of(quote(**a), quote(price=2, **a))
    assert await hash_of(quote(price=2.0, timestamp=3, **b), quote(**b)) == first
    assert await hash_of(quote(price=3, **a), quote(**a)) != first


async def test_unknown_fields_are_taken_where_the_type_says_so() -> None:
    """Strictness is data: `extra = "ignore"` drops them, a missing field is refused all the same."""
    found = await outcome_of(body(quote(odd=1)), extra="ignore")
    assert isinstance(found, Fetched)
    assert "odd" not in found.rows[0]
    assert isinstance(await outcome_of(body({"symbol": "AAPL", "timestamp": 1}), extra="ignore"), Refused)


@pytest.mark.parametrize("value", [b'"a\\u0000b"', b'{"x": ["\\u0000"]}', b'{"\\u0000": 1}', b"[1e999]"])
async def test_what_no_database_holds_is_refused(value: bytes) -> None:
    """Zero characters and numbers beyond all numbers are JSON, and would fail in the store."""
    content = json.dumps([quote(note="?")]).encode().replace(b'"?"', value)
    found = await outcome_of(answer(content), fields={**FIELDS, "note": {"type": "json"}})
    assert isinstance(found, Refused)
    assert found.reason == "encoding"


@pytest.mark.parametrize(
    ("total", "weights"), [(10, [1, 1, 1]), (0, [5]), (7, [0, 0]), (100, [1, 98, 1]), (3, [0, 1, 0, 0])]
)
def test_shares_add_up(total: int, weights: list[int]) -> None:
    """To the last byte, whatever the weights."""
    shares = share_out(total, weights)
    assert sum(shares) == total
    assert min(shares) >= 0
