"""A key is found where its source says, and shown to nobody."""

import copy
import io
import json
import os
import pickle
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from pydantic_core import PydanticSerializationError, to_json

from livewell.budgets import KeyRing, KeySources, KeyUnreadable, Secret
from livewell.kernel import Logger, configure_logs, silence_logs

KEY = "sk-live-4f9a-never-shown"


def _ring_of(folder: Path) -> KeyRing:
    return KeyRing({}, sources=KeySources(folders=(folder,)))


def test_a_key_comes_from_the_environment() -> None:
    """`env:NAME` is that variable as it is now."""
    environment = {"FMP_API_KEY": KEY}
    ring = KeyRing(environment)
    assert ring.read("env:FMP_API_KEY").reveal() == KEY
    environment["FMP_API_KEY"] = "changed"
    assert ring.read("env:FMP_API_KEY").reveal() == "changed"


def test_a_key_comes_from_a_file_without_its_newline(tmp_path: Path) -> None:
    """The newline an editor or a secret store leaves at the end is not part of the key."""
    (tmp_path / "key").write_bytes(KEY.encode() + b"\r\n")
    assert _ring_of(tmp_path).read(f"file:{tmp_path / 'key'}").reveal() == KEY


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    """A key is rotated by replacing its file, in place or by renaming another over it, without a restart."""
    path = tmp_path / "key"
    path.write_text("first")
    ring = _ring_of(tmp_path)
    first = ring.read(f"file:{path}")
    assert ring.read(f"file:{path}") is first
    path.write_text("second one")
    assert ring.read(f"file:{path}").reveal() == "second one"
    (tmp_path / "next").write_text("third  one")
    (tmp_path / "next").replace(path)
    assert ring.read(f"file:{path}").reveal() == "third  one"


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"  \n", KEY.encode() + b"\nX-Other: 1", b"\xff" + KEY.encode(), KEY.encode() + b"\0", b"k" * 70_000],
)
def test_a_file_that_holds_no_key_is_a_fact_without_its_content(tmp_path: Path, content: bytes) -> None:
    """Nothing, several lines, what is no text, and what is no key at all are refused; only the source is named."""
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(KeyUnreadable) as raised:
        _ring_of(tmp_path).read(f"file:{path}")
    shown = "".join(traceback.format_exception(raised.value))
    assert str(path) in shown
    assert KEY not in shown


@pytest.mark.parametrize("source", ["env:NOT_THERE_API_KEY", "file:/not/there", "file:/", "file:\0"])
def test_a_key_that_is_not_there_names_its_source(source: str) -> None:
    """A variable that is not set, a file that is missing, a folder."""
    with pytest.raises(KeyUnreadable, match="no key at"):
        _ring_of(Path("/")).read(source)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Only a regular file is read: a pipe nobody writes to would stop the process."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(KeyUnreadable):
        _ring_of(tmp_path).read(f"file:{tmp_path / 'pipe'}")


def test_a_key_in_the_place_of_its_source_is_not_shown() -> None:
    """Somebody who declares the key itself as its source does not find it in the log."""
    with pytest.raises(KeyUnreadable) as raised:
        KeyRing({}).read(KEY)
    assert KEY not in str(raised.value)


def test_a_secret_shows_itself_to_nobody() -> None:
    """Text, formats, containers, records and copies all show a mask; pickle and JSON refuse."""

    @dataclass(frozen=True)
    class Call:
        key: Secret

    secret = Secret(KEY)
    shown = [
        str(secret),
        repr(secret),
        f"{secret}",
        f"{secret!r:>40}",
        f"{secret:>40}",
        repr([secret]),
        repr(Call(secret)),
        repr(asdict(Call(secret))),
        repr(copy.deepcopy({"key": secret})),
        repr(copy.copy(secret)),
        json.dumps({"key": secret}, default=str),
        to_json({"key": secret}, fallback=str).decode(),
    ]
    assert [text for text in shown if KEY in text] == []
    for refuse in (pickle.dumps, json.dumps):
        with pytest.raises(TypeError) as raised:
            refuse(secret)
        assert KEY not in str(raised.value)
    with pytest.raises(PydanticSerializationError) as refused:
        to_json(secret)
    assert KEY not in str(refused.value)


def test_secrets_are_equal_by_what_they_hide() -> None:
    """Whether a key has changed can be asked without seeing it."""
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert Secret("a") != "a"


@pytest.mark.parametrize("shape", ["json", "console"])
def test_a_logged_secret_is_a_mask(shape: str) -> None:
    """Under any field name, in any log format, also in the trace of an exception that carries it."""
    out = io.StringIO()
    configure_logs(environment={"LIVEWELL_LOG_FORMAT": shape}, stream=out)
    log = Logger("livewell.budgets")
    secret = Secret(KEY)
    log.warning("call_failed", harmless=secret, nested={"a": [secret]})
    try:
        raise ValueError(secret)
    except ValueError:
        log.exception("call_failed")
    silence_logs()
    assert "call_failed" in out.getvalue()
    assert KEY not in out.getvalue()
