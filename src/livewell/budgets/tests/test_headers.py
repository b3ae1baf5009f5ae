"""What headers of real providers say, and that no text whatever raises."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from livewell.budgets import IgnoredHeader, RateFacts, RateLimit, read_rate_headers

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)

NAMES = [
    "Retry-After",
    "retry-after-ms",
    "Date",
    "X-RateLimit-Limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-reset-after",
    "x-rate-limit-reset",
    "x-ratelimit-limit-requests",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-remaining-tokens-minute",
    "anthropic-ratelimit-tokens-limit",
    "anthropic-ratelimit-requests-reset",
    "RateLimit",
    "RateLimit-Policy",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
]


def read(status: int = 200, /, **headers: str) -> RateFacts:
    return read_rate_headers(status, {name.replace("_", "-"): text for name, text in headers.items()}, now=NOW)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("12", seconds(12)),
        (" 0 ", seconds(0)),
        ("1.5", seconds(1.5)),
        ("Mon, 04 May 2026 12:00:30 GMT", seconds(30)),
        ("Monday, 04-May-26 12:00:30 GMT", seconds(30)),
        ("Mon May  4 12:00:30 2026", seconds(30)),
        ("2026-05-04T12:00:30Z", seconds(30)),
        (str(int(NOW.timestamp()) + 30), seconds(30)),
    ],
)
def test_retry_after_is_read_in_every_form(text: str, wait: timedelta) -> None:
    """Seconds, the three forms of an HTTP date, a timestamp and an epoch all say how long to wait."""
    assert read(429, Retry_After=text).retry_after == wait


def test_a_date_is_taken_against_the_servers_own_clock() -> None:
    """With a Date in the answer, a clock of ours that is wrong by an hour changes nothing."""
    headers = {"date": "Mon, 04 May 2026 11:00:00 GMT", "retry-after": "Mon, 04 May 2026 11:00:20 GMT"}
    assert read_rate_headers(429, headers, now=NOW).retry_after == seconds(20)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("-5", "negative"),
        ("NaN", "malformed"),
        ("inf", "malformed"),
        ("1" + "0" * 29, "absurd"),
        ("1" * 5000, "malformed"),
        ("99999999", "absurd"),
        ("Mon, 04 May 2026 11:59:00 GMT", "past"),
        ("Mon, 04 May 9999 11:59:00 GMT", "absurd"),
        ("soon", "malformed"),
        ("١٢", "malformed"),
        ("", "malformed"),
    ],
)
def test_a_wait_that_makes_no_sense_is_left_out_by_name(text: str, reason: str) -> None:
    """A wait nobody can mean is no wait, so that the configured one applies; the reason is kept for the log."""
    facts = read(429, Retry_After=text)
    assert facts.retry_after is None
    assert facts.ignored == (IgnoredHeader(name="retry-after", reason=reason),)
    assert facts.is_throttled
    assert facts.tell_anything()


def test_a_repeated_header_counts_with_its_more_careful_value() -> None:
    """Of two waits the longer one counts, of two remainders the smaller one, whatever the case of the names."""
    headers = [
        ("Retry-After", "5"),
        ("retry-after", "9"),
        ("RETRY-AFTER-MS", "1500"),
        ("X-RateLimit-Remaining", "7"),
        ("x-ratelimit-remaining", "3"),
    ]
    facts = read_rate_headers(429, headers, now=NOW)
    assert facts.retry_after == seconds(9)
    assert facts.limits == (RateLimit(remaining=3),)


def test_plain_headers_tell_one_limit() -> None:
    """`x-ratelimit-limit`, `-remaining` and `-reset` are one limit of requests, whose window is not told."""
    facts = read(X_RateLimit_Limit="60", X_RateLimit_Remaining="12", X_RateLimit_Reset="30")
    assert facts.limits == (RateLimit(limit=60, remaining=12, reset=seconds(30)),)


@pytest.mark.parametrize("reset", [int(NOW.timestamp()) + 90, int(NOW.timestamp() + 90) * 1000])
def test_a_reset_of_the_size_of_an_epoch_is_one(reset: int) -> None:
    """GitHub tells the moment of the reset in seconds since 1970, others in milliseconds."""
    (limit,) = read(x_ratelimit_limit="5000", x_ratelimit_remaining="4999", x_ratelimit_reset=str(reset)).limits
    assert limit.reset == seconds(90)


def test_reset_after_goes_before_reset() -> None:
    """A server that tells both means the wait by `-reset-after`."""
    epoch = str(NOW.timestamp() + 500)
    (limit,) = read(x_ratelimit_remaining="0", x_ratelimit_reset=epoch, x_ratelimit_reset_after="1.25").limits
    assert limit.reset == seconds(1.25)


def test_openai_tells_requests_and_tokens_apart() -> None:
    """Two limits with spans like 1m30s and 6ms."""
    facts = read(
        x_ratelimit_limit_requests="500",
        x_ratelimit_remaining_requests="499",
        x_ratelimit_reset_requests="120ms",
        x_ratelimit_limit_tokens="200000",
        x_ratelimit_remaining_tokens="0",
        x_ratelimit_reset_tokens="1m30s",
    )
    assert set(facts.limits) == {
        RateLimit(unit="requests", limit=500, remaining=499, reset=seconds(0.12)),
        RateLimit(unit="tokens", limit=200_000, remaining=0, reset=seconds(90)),
    }


def test_anthropic_tells_limits_per_minute_with_timestamps() -> None:
    """Its windows are minutes; a reset a moment ago is a window that has begun again."""
    facts = read(
        date="Mon, 04 May 2026 12:00:00 GMT",
        anthropic_ratelimit_requests_limit="1000",
        anthropic_ratelimit_requests_remaining="999",
        anthropic_ratelimit_requests_reset="2026-05-04T11:59:59Z",
        anthropic_ratelimit_tokens_limit="96000",
        anthropic_ratelimit_tokens_remaining="95000",
        anthropic_ratelimit_tokens_reset="2026-05-04T12:00:10Z",
    )
    assert set(facts.limits) == {
        RateLimit(unit="requests", limit=1000, window=MINUTE, remaining=999, reset=seconds(0)),
        RateLimit(unit="tokens", limit=96_000, window=MINUTE, remaining=95_000, reset=seconds(10)),
    }
    assert facts.ignored == ()


def test_a_window_in_the_name_is_the_window() -> None:
    """Gateways tell `-Limit-Minute` and `-Limit-Hour` beside each other."""
    facts = read(
        X_RateLimit_Limit_Minute="20",
        X_RateLimit_Remaining_Minute="19",
        X_RateLimit_Limit_Hour="500",
        X_RateLimit_Remaining_Hour="433",
    )
    assert set(facts.limits) == {
        RateLimit(limit=20, window=MINUTE, remaining=19),
        RateLimit(limit=500, window=timedelta(hours=1), remaining=433),
    }


def test_policies_and_their_states_meet_by_name() -> None:
    """`RateLimit-Policy` tells sizes and windows, `RateLimit` what is left, over repeated headers too."""
    headers = [
        ("RateLimit-Policy", '"burst";q=100;w=60'),
        ("RateLimit-Policy", '"daily";q=1000;w=86400;pk=:cHNlbmRz:, "ai";q=5000;qu="tokens";w=60'),
        ("RateLimit", '"burst";r=50;t=30, "ai";r=4000;t=12'),
    ]
    assert read_rate_headers(200, headers, now=NOW).limits == (
        RateLimit(limit=100, window=MINUTE, remaining=50, reset=seconds(30)),
        RateLimit(limit=1000, window=timedelta(days=1)),
        RateLimit(unit="tokens", limit=5000, window=MINUTE, remaining=4000, reset=seconds(12)),
    )


def test_a_policy_in_another_unit_is_no_limit_of_ours() -> None:
    """What is counted in bytes or connections is left out, with its state."""
    facts = read(RateLimit_Policy='"size";q=65535;qu="content-bytes";w=10', RateLimit='"size";r=10;t=1')
    assert facts.limits == ()
    assert facts.ignored == (IgnoredHeader(name="ratelimit-policy", reason="unit"),)


@pytest.mark.parametrize(
    "headers",
    [
        {"RateLimit-Limit": "100", "RateLimit-Remaining": "50", "RateLimit-Reset": "5", "RateLimit-Policy": "100;w=60"},
        {"RateLimit-Limit": "100, 100;w=60", "RateLimit-Remaining": "50", "RateLimit-Reset": "5"},
        {"RateLimit": "limit=100, remaining=50, reset=5", "RateLimit-Policy": "100;w=60"},
    ],
)
def test_older_drafts_say_the_same(headers: dict[str, str]) -> None:
    """Three older forms of one limit are the same fact."""
    expected = (RateLimit(limit=100, window=MINUTE, remaining=50, reset=seconds(5)),)
    assert read_rate_headers(200, headers, now=NOW).limits == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [("0", "zero"), ("-3", "negative"), ("1.5", "fraction"), ("9" * 12, "absurd"), ("lots", "malformed")],
)
def test_a_limit_that_makes_no_sense_is_left_out_by_name(text: str, reason: str) -> None:
    """A limit of nothing, or of more than can be, would close an endpoint or open it; it is neither."""
    facts = read(x_ratelimit_limit=text)
    assert facts.limits == ()
    assert facts.ignored == (IgnoredHeader(name="x-ratelimit-limit", reason=reason),)


def test_more_left_than_allowed_is_not_believed() -> None:
    """A remainder above its limit is left out; the limit stays."""
    assert read(x_ratelimit_limit="10", x_ratelimit_remaining="500").limits == (RateLimit(limit=10),)


def test_facts_go_to_sql_as_json() -> None:
    """The document has the fields `learn_limits` reads, durations in seconds."""
    facts = read(429, Retry_After="12", RateLimit_Policy='"a";q=300;w=60', RateLimit='"a";r=12;t=30')
    assert json.loads(facts.to_json()) == {
        "status": 429,
        "retry_after_seconds": 12.0,
        "limits": [{"unit": "requests", "limit": 300, "window_seconds": 60, "remaining": 12, "reset_seconds": 30}],
    }


def test_an_answer_without_such_headers_tells_nothing() -> None:
    """Nothing is learned, and nothing is told to the database, from an ordinary answer."""
    facts = read(content_type="text/html", date="Mon, 04 May 2026 12:00:00 GMT")
    assert facts == RateFacts(status=200)
    assert not facts.tell_anything()


garbage = st.one_of(
    st.text(),
    st.text(alphabet='0123456789.-+:;,="?*w qrtuTZhmsGMT'),
    st.from_regex(r"-?[0-9]{1,40}(\.[0-9]{1,40})?"),
    st.datetimes().map(datetime.isoformat),
    st.datetimes(timezones=st.timezones()).map(datetime.isoformat),
)


@given(
    status=st.integers(),
    headers=st.lists(st.tuples(st.one_of(st.sampled_from(NAMES), st.text()), garbage), max_size=8),
    now=st.datetimes(timezones=st.just(UTC)),
)
@example(status=429, headers=[("retry-after", "0001-01-01T00:00:00+14:00")], now=NOW)
@example(status=429, headers=[("retry-after", "Mon, 00 Jan 0000 99:99:99 +9999")], now=NOW)
@example(status=200, headers=[("retry-after", "1" * 30 + "h")], now=NOW)
@example(status=429, headers=[("retry-after-ms", "0\x1f")], now=NOW)
def test_no_text_raises(status: int, headers: list[tuple[str, str]], now: datetime) -> None:
    """Whatever a server sends, reading it answers facts within bounds that are valid JSON."""
    facts = read_rate_headers(status, headers, now=now)
    json.loads(facts.to_json())
    assert facts.retry_after is None or timedelta() <= facts.retry_after <= timedelta(days=31)
    for limit in facts.limits:
        assert limit.limit is None or 0 < limit.limit < 2**31
        assert limit.remaining is None or 0 <= limit.remaining < 2**31
        assert limit.reset is None or timedelta() <= limit.reset <= timedelta(days=31)
        assert limit.window is None or timedelta() < limit.window <= timedelta(days=31)


counts = st.integers(min_value=1, max_value=2**31 - 1)
waits = st.integers(min_value=1, max_value=31 * 86400)


@given(limit=counts, left=counts, window=waits, reset=waits, wait=waits)
def test_what_is_well_formed_is_read_back(limit: int, left: int, window: int, reset: int, wait: int) -> None:
    """Any sensible limit written in the standard form is the same limit when read."""
    left = min(limit, left)
    headers = {
        "Date": format_datetime(NOW, usegmt=True),
        "Retry-After": format_datetime(NOW + seconds(wait), usegmt=True),
        "RateLimit-Policy": f'"p";q={limit};w={window}',
        "RateLimit": f'"p";r={left};t={reset}',
    }
    facts = read_rate_headers(429, headers, now=NOW - timedelta(days=400))
    assert facts.retry_after == seconds(wait)
    assert facts.limits == (RateLimit(limit=limit, window=seconds(window), remaining=left, reset=seconds(reset)),)


@given(hours=st.integers(0, 700), minutes=st.integers(0, 59), rest=st.integers(0, 59_999))
def test_a_span_is_read_back(hours: int, minutes: int, rest: int) -> None:
    """Spans as OpenAI writes them, in hours, minutes, seconds and milliseconds."""
    text = f"{hours}h{minutes}m{rest // 1000}s{rest % 1000}ms"
    (limit,) = read(x_ratelimit_remaining_requests="1", x_ratelimit_reset_requests=text).limits
    assert limit.reset is not None
    assert abs(limit.reset - timedelta(hours=hours, minutes=minutes, milliseconds=rest)) < timedelta(milliseconds=1)
