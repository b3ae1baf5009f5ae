"""What a provider says ends up where people read: on one line, of bounded length, without the key."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote as url_encoded

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.budgets import Secret
from livewell.fetching import Call, Fetcher, Model
from livewell.fetching.messages import MOST_LETTERS, plain
from livewell.fetching.tests.servers import answer, serve
from livewell.fetching.tests.stage import a_source, fetch

KEY = "s3cr3t/Key+42&x"
keys = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6, max_size=30)
texts = st.text(max_size=80)
NOISE = "\r\nINJECTED: yes\x1b[31m\x00\u202e\u2028"


def _is_shown_safely(text: str) -> bool:
    return text.isprintable() and len(text) <= MOST_LETTERS


@given(key=keys, before=texts, after=texts, data=st.data())
def test_no_form_of_a_key_is_left(key: str, before: str, after: str, data: st.DataObject) -> None:
    """Wherever the key stands in a text, as it is or as a URL has it, what is shown is a line without it."""
    form = data.draw(st.sampled_from([key, url_encoded(key, safe=""), url_encoded(key), key.upper()]))
    shown = plain(f"{before}{form}{after}", Secret(key))
    assert _is_shown_safely(shown)
    assert key.lower() not in shown.lower()
    assert form.lower() not in shown.lower()


@given(text=st.text(max_size=600))
def test_any_text_is_one_short_line(text: str) -> None:
    """Whatever characters somebody sends: no break, no control, no change of direction, and an end."""
    assert _is_shown_safely(plain(text))


def test_the_query_of_a_url_is_not_shown() -> None:
    """A key may stand in a query that is not ours: what follows the path of a URL is left out."""
    shown = plain("GET https://api.example/v1/quote?apikey=abc#x failed, see http://b.example/p?q=1")
    assert "abc" not in shown
    assert shown.startswith("GET https://api.example/v1/quote?")
    assert shown.endswith("http://b.example/p?•••")


class Row(Model):
    symbol: str
    price: float


class Chatty(Fetcher[Row]):
    """Repeats in its own error what the provider said."""

    key = "symbol"

    async def fetch(self, call: Call) -> Sequence[Any]:
        raise ValueError(f"not what was expected: {await call.get('/quote').json()}")


ATTACKS = {
    "refused key": {"status": "401 Unauthorized"},
    "forbidden": {"status": "403 Forbidden"},
    "error page": {"status": "500 Internal Server Error"},
    "html": {"headers": (f"Content-Type: text/{KEY}",)},
    "charset": {"headers": (f"Content-Type: application/json; charset={KEY}",)},
    "redirect": {"status": "302 Found", "headers": (f"Location: http://{KEY}.example/?k={KEY}",)},
    "encoding": {"headers": ("Content-Type: application/json", f"Content-Encoding: {KEY}")},
    "json": {},
}


@pytest.mark.parametrize("place", ["query:apikey", "header:X-Key", "bearer"])
@pytest.mark.parametrize("fetcher", [None, Chatty], ids=["declared", "written"])
async def test_what_an_attacker_answers_does_not_reach_the_reason(
    fetcher: "type[Fetcher[Any]] | None", place: str
) -> None:
    """A provider that sends the key, control characters and long texts: its reasons are short plain lines."""
    said = f'{{"{KEY}": "{url_encoded(KEY, safe="")}{NOISE.encode("unicode_escape").decode()}{"x" * 5000}"}}'
    for name, options in ATTACKS.items():
        content = answer(said.encode(), **options)  # type: ignore[arg-type]  # a status or headers
        async with serve(lambda _, content=content: content) as server:  # type: ignore[misc]  # bound at once
            source = a_source(server, fetcher=fetcher, provider={"key_in": place})
            (found,) = await fetch(source, secret=Secret(KEY))
        message = getattr(found.outcome, "message", None)
        assert message, name
        assert _is_shown_safely(message), name
        told = repr(found).lower()
        assert KEY.lower() not in told, name
        assert url_encoded(KEY, safe="").lower() not in told, name
