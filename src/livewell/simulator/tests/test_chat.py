"""The chat endpoint: the shape of OpenAI's, the same answer to the same question, tokens limited."""

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from livewell.simulator import CHAT, Limit, Simulator, SimulatorOptions, SteppedClock
from livewell.simulator.tests.surface import START, Heard, ask, question

PATH = "/v1/chat/completions"


async def chat(simulator: Simulator, text: str = "How is the sea?", **more: Any) -> Heard:
    request = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], **more}
    return await ask(simulator, PATH, method="POST", body=json.dumps(request).encode())


async def test_the_same_question_has_the_same_answer(simulator: Simulator) -> None:
    """Content and usage follow from seed, model and messages; usage adds up."""
    first, again, other = await chat(simulator), await chat(simulator), await chat(simulator, "And the wind?")
    assert first.json == again.json
    assert first.json["choices"] != other.json["choices"]
    usage = first.json["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0
    assert first.json["choices"][0]["message"]["role"] == "assistant"
    await simulator.settled()
    assert simulator.calls[0].tokens == usage["total_tokens"]


async def test_an_answer_ends_at_the_tokens_it_may_have(simulator: Simulator) -> None:
    """`max_tokens` bounds the completion, and the reason says so."""
    heard = await chat(simulator, max_tokens=5)
    assert heard.json["usage"]["completion_tokens"] == 5
    assert heard.json["choices"][0]["finish_reason"] == "length"


async def test_json_is_answered_where_it_is_asked_for(simulator: Simulator) -> None:
    """With a response format of JSON the content is JSON."""
    heard = await chat(simulator, response_format={"type": "json_object"})
    assert set(json.loads(heard.json["choices"][0]["message"]["content"])) == {"answer"}


@pytest.mark.parametrize("body", [b"", b"{}", b"no json", b'{"model":"m","messages":[]}'])
async def test_what_makes_no_sense_is_refused(simulator: Simulator, body: bytes) -> None:
    """400 with an error as OpenAI writes it."""
    heard = await ask(simulator, PATH, method="POST", body=body)
    assert (heard.status, set(heard.json)) == (400, {"error"})


async def test_tokens_are_limited_and_told() -> None:
    """A call whose tokens no longer fit is 429; what is left is told in headers of its own."""
    options = SimulatorOptions(limits={CHAT: Limit(tokens=200)})
    async with Simulator(options, clock=SteppedClock(START)) as simulator:
        first = await chat(simulator)
        left = 200 - first.json["usage"]["total_tokens"]
        assert first.headers["x-ratelimit-remaining-tokens"] == str(left)
        assert first.headers["x-ratelimit-limit-tokens"] == "200"
        refused = await chat(simulator, "word " * 200)
        assert (refused.status, refused.headers["retry-after"]) == (429, "60")
        assert simulator.over_limit == 1


async def test_faults_befall_chats_too(simulator: Simulator) -> None:
    """Whatever can be wrong with an object can be wrong with this one."""
    simulator.fault("missing_field", CHAT, field="usage", count=1)
    assert "usage" not in (await chat(simulator)).json
    simulator.fault("truncated", CHAT)
    with pytest.raises(json.JSONDecodeError):
        _ = (await chat(simulator)).json


async def test_a_question_that_breaks_off_is_no_call(simulator: Simulator) -> None:
    """Whoever goes before the question is complete has asked nothing, and nobody waits for it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(simulator.url).port)
    whole = question(PATH, method="POST", body=b"{}" * 100)
    writer.write(whole[:-50])
    await writer.drain()
    writer.close()
    assert await reader.read() == b""
    heard = await chat(simulator)
    async with asyncio.timeout(5):
        await simulator.settled()
    assert heard.status == 200
    assert [call.status for call in simulator.calls] == [200]
