"""Frames are what docs/reference/live.md says: the golden ones are read by the tests of both sides."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from livewell.live.errors import BadFrame
from livewell.live.frames import (
    PING,
    ClientDrop,
    ClientHello,
    ClientToken,
    ClientWatch,
    CloseCode,
    FramesOf,
    bye,
    hello,
    read_message,
)
from livewell.presence import Item

GOLDEN = json.loads((Path(__file__).parents[4] / "docs/reference/live-frames.json").read_text(encoding="utf-8"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def _written(frame: dict[str, Any]) -> str:
    """A frame as the gateway writes it."""
    match frame["frame"]:
        case "hello":
            return hello(UUID(frame["session"]), ping=frame["ping"], items=frame["items"])
        case "ping":
            return PING
        case "bye":
            return bye(CloseCode(frame["code"]), frame["reason"], frame["come_back"])
    frames = FramesOf(Item(frame["type"], frame["key"]))
    match frame["frame"]:
        case "row":
            value = json.dumps("x" * 300_000) if frame.get("large") else to_json(frame["value"]).decode()
            return frames.row(value, frame["version"], frame["age"], frame["fresh"])
        case "age":
            return frames.age(frame["age"], frame["fresh"])
        case "state":
            return frames.state(frame["is"], frame["for"], frame["until"])
    return frames.no(frame["code"], frame["message"], frame["fix"])


@pytest.mark.parametrize("name", GOLDEN["server"])
def test_what_goes_out_is_golden(name: str) -> None:
    """Every golden frame of a server is what the gateway writes."""
    assert json.loads(_written(GOLDEN["server"][name])) == GOLDEN["server"][name]


def test_what_comes_in_is_read() -> None:
    """Every golden frame of a client is read as what it says."""
    kinds = {"hello": ClientHello, "watch": ClientWatch, "drop": ClientDrop, "token": ClientToken}
    for frame in GOLDEN["client"].values():
        (read,) = read_message(json.dumps([frame]))
        assert isinstance(read, kinds[frame["frame"]])
        if isinstance(read, ClientHello | ClientWatch):
            told = [{"type": want.item.type, "key": want.item.key, "version": want.version} for want in read.items]
            assert told == [{"version": None, **item} for item in frame.get("items", [])]
    for message in GOLDEN["client_messages"].values():
        assert len(read_message(json.dumps(message))) == len(message)


@pytest.mark.parametrize("name", [name for name in GOLDEN["bad_client_messages"] if name != "no_hello_first"])
def test_a_bad_message_is_refused(name: str) -> None:
    """What is no list of frames, or a frame without what it needs, is refused with a fact."""
    with pytest.raises(BadFrame):
        read_message(GOLDEN["bad_client_messages"][name])


@given(JSON)
def test_whatever_comes_is_frames_or_a_fact(document: Any) -> None:
    """No message of a client, however odd, is anything but frames or the fact that it is none."""
    try:
        read = read_message(json.dumps(document))
    except BadFrame:
        return
    assert all(isinstance(frame, ClientHello | ClientWatch | ClientDrop | ClientToken) for frame in read)


@given(st.text(max_size=30), st.text(max_size=30), JSON)
def test_names_and_values_are_json_whatever_they_are(data_type: str, key: str, value: Any) -> None:
    """A type or key with quotes, marks or new lines in it makes no other frame than its own."""
    written = FramesOf(Item(data_type, key)).row(json.dumps(value), "1.0a", 1, None)
    assert json.loads(written) == {
        "frame": "row", "type": data_type, "key": key, "value": value, "version": "1.0a", "age": 1, "fresh": None,
    }  # fmt: skip


def test_an_item_that_is_named_twice_is_wanted_once() -> None:
    """The last word on it counts."""
    items = [{"type": "quote", "key": "A", "version": "1.a"}, {"type": "quote", "key": "A", "version": "2.b"}]
    (watch,) = read_message(json.dumps([{"frame": "watch", "items": items}]))
    assert isinstance(watch, ClientWatch)
    assert [want.version for want in watch.items] == ["2.b"]
