"""Another process can set what the provider does, and ask what it saw."""

import json
from typing import Any

import pytest

from livewell.simulator import Simulator
from livewell.simulator.tests.surface import Heard, ask

QUOTE = "/api/v3/quote/AAPL"


async def post(simulator: Simulator, what: str, **body: Any) -> Heard:
    return await ask(simulator, f"/_control/{what}", method="POST", body=json.dumps(body).encode())


async def test_faults_are_set_listed_and_cleared(simulator: Simulator) -> None:
    """As in Python, with how often each has happened."""
    assert (await post(simulator, "faults", kind="empty", endpoint="quote", count=1)).status == 200
    assert (await ask(simulator, QUOTE)).body == b""
    (listed,) = (await ask(simulator, "/_control/faults")).json
    assert (listed["kind"], listed["happened"], listed["count"]) == ("empty", 1, 1)
    assert (await ask(simulator, "/_control/faults", method="DELETE")).json == []


async def test_what_was_seen_can_be_asked(simulator: Simulator) -> None:
    """Figures per endpoint and the calls one by one; asking counts as no call."""
    heard = await ask(simulator, QUOTE)
    await ask(simulator, "/api/v3/profile/AAPL")
    figures = (await ask(simulator, "/_control/figures")).json
    assert (figures["quote"]["calls"], figures["quote"]["bytes_out"]) == (1, len(heard.raw))
    calls = (await ask(simulator, "/_control/calls?endpoint=profile")).json
    assert [(call["number"], call["keys"]) for call in calls] == [(2, ["AAPL"])]
    assert len((await ask(simulator, "/_control/calls?after=1")).json) == 1
    assert len(simulator.calls) == 2


async def test_limits_and_the_clock_can_be_moved(simulator: Simulator) -> None:
    """A limit takes effect at the next call, and ends when the clock has gone a window on."""
    await post(simulator, "limits", endpoint="quote", requests=1)
    assert [(await ask(simulator, QUOTE)).status for _ in range(2)] == [200, 429]
    await post(simulator, "clock", advance_seconds=60)
    assert (await ask(simulator, QUOTE)).status == 200


@pytest.mark.parametrize(
    ("what", "body", "said"),
    [
        ("faults", {"kind": "emty"}, "did you mean empty"),
        ("faults", {"kind": "empty", "endpoint": "qoute"}, "no endpoint"),
        ("faults", {"kind": "empty", "oops": 1}, "oops"),
        ("limits", {"endpoint": "quote", "requests": 0}, "above zero"),
        ("clock", {}, "advance_seconds"),
    ],
)
async def test_what_makes_no_sense_is_refused(simulator: Simulator, what: str, body: dict[str, Any], said: str) -> None:
    """With 400 and the reason, and nothing is changed."""
    heard = await post(simulator, what, **body)
    assert heard.status == 400
    assert said in heard.json["error"]["message"]
    assert simulator.plan.faults == ()


async def test_a_web_page_controls_nothing(simulator: Simulator) -> None:
    """A request that a browser made for a page is refused; so is a path that is not there."""
    heard = await ask(simulator, "/_control/faults", method="DELETE", Origin="https://page.example")
    assert heard.status == 403
    assert (await ask(simulator, "/_control/nothing")).status == 404
