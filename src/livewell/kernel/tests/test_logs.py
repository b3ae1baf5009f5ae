"""Logs: one line per event, in the shape asked for, and without secrets."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from livewell.kernel import Logger, configure_logs, mask, masked, silence_logs
from livewell.kernel.logs import MASK, LogSettingInvalid


@pytest.fixture(autouse=True)
def _afterwards() -> Iterator[None]:
    """Leave logging as it was."""
    yield
    silence_logs()


def _logged(environment: dict[str, str], level: str = "info", **fields: object) -> str:
    stream = io.StringIO()
    configure_logs(environment=environment, stream=stream)
    getattr(Logger("livewell.test"), level)("thing_happened", **fields)
    return stream.getvalue()


def test_json_has_one_object_per_line_with_time_in_utc() -> None:
    """Machines get the event, its level, its fields and an ISO time that ends in Z."""
    line = json.loads(_logged({"LIVEWELL_LOG_FORMAT": "json"}, job_id=7))
    assert (line["event"], line["level"], line["job_id"]) == ("thing_happened", "info", 7)
    assert line["timestamp"].endswith("Z")


def test_the_console_shape_is_for_people() -> None:
    """On demand a line is text, not JSON."""
    line = _logged({"LIVEWELL_LOG_FORMAT": "console"}, job_id=7)
    assert "thing_happened" in line
    assert "job_id=7" in line
    assert not line.startswith("{")


def test_a_terminal_gets_text_and_anything_else_json() -> None:
    """Unless `LIVEWELL_LOG_FORMAT` says otherwise: that wins on a terminal too."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def first_of(stream: io.StringIO, **environment: str) -> str:
        configure_logs(environment=environment, stream=stream)
        Logger("livewell.test").info("thing_happened")
        return stream.getvalue()[0]

    assert first_of(io.StringIO()) == "{"
    assert first_of(Terminal()) != "{"
    assert first_of(Terminal(), LIVEWELL_LOG_FORMAT="json") == "{"


def test_the_level_is_a_floor() -> None:
    """What is below the level asked for is not written."""
    assert _logged({"LIVEWELL_LOG_LEVEL": "warning"}, "info") == ""
    assert _logged({"LIVEWELL_LOG_LEVEL": "warning"}, "warning") != ""
    assert _logged({}, "debug") == ""


@pytest.mark.parametrize("variable", ["LIVEWELL_LOG_LEVEL", "LIVEWELL_LOG_FORMAT"])
def test_an_unknown_choice_is_refused_with_the_known_ones(variable: str) -> None:
    """A typing error in the environment is told, not guessed at."""
    with pytest.raises(LogSettingInvalid, match=variable) as caught:
        configure_logs(environment={variable: "loud"}, stream=io.StringIO())
    assert "use one of" in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["password", "db_password", "token", "lease_token", "api_key", "signing-key", "client_secret", "Authorization"],
)
def test_what_looks_secret_is_masked(name: str) -> None:
    """A text under a name that looks sensitive never reaches the output, at any depth."""
    assert "s3cret" not in _logged({}, **{name: "s3cret"})
    assert "s3cret" not in _logged({}, fields={"inner": [{name: "s3cret"}]})


@pytest.mark.parametrize(
    ("name", "value"), [("dedupe_key", "refresh/quote/AAPL"), ("serial_key", "x"), ("tokens", 500), ("monkey", "x")]
)
def test_what_only_resembles_a_secret_is_shown(name: str, value: object) -> None:
    """Keys of jobs and numbers of tokens are what logs are for."""
    assert masked(name, value) == value


def test_a_registered_name_is_masked_whatever_its_value() -> None:
    """Settings marked sensitive register their names; then not even a number is shown."""
    assert masked("mail.pin_of_door", 1234) == 1234
    mask("mail.pin_of_door")
    assert masked("mail.pin_of_door", 1234) == MASK


def test_a_password_in_a_url_is_masked() -> None:
    """A database URL may be logged; its password is not."""
    line = _logged({}, url="postgresql://app:s3cret@db.example/app", reason="cannot reach amqp://u:s3cret@mq:1/")
    assert "s3cret" not in line
    assert "db.example" in line


def test_a_secret_in_a_traceback_url_is_masked() -> None:
    """What an exception says is masked like any other text."""
    assert "s3cret" not in _logged({}, exc_info=ValueError("postgresql://app:s3cret@db/app"))


def test_a_log_that_cannot_be_written_stops_nobody() -> None:
    """A reader that went away costs the line, not the program that logs it."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        configure_logs(environment={}, stream=stream)
        Logger("livewell.test").info("thing_happened")
        os.dup2(os.open(os.devnull, os.O_WRONLY), writing)


def test_a_library_is_silent(tmp_path: Path) -> None:
    """Nothing on standard output or error, not even a warning, until a program sets up `logging` or our own logs."""
    program = tmp_path / "program.py"
    program.write_text(
        "import logging, sys\n"
        "from livewell.kernel import Logger\n"
        "log = Logger('livewell.test')\n"
        "log.warning('before', api_key='s3cret')\n"
        "logging.basicConfig(format='%(levelname)s %(name)s %(message)s', stream=sys.stdout)\n"
        "log.info('too_low')\n"
        "log.bind(kind='report').warning('after', api_key='s3cret', job_id=7)\n"
    )
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == (f"WARNING livewell.test after kind=report api_key={MASK} job_id=7\n", "")


def test_lines_of_ours_are_not_told_twice() -> None:
    """A program of Livewell's own writes its lines itself: the root of `logging` does not get them too."""
    stream, root = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(root)
    logging.getLogger().addHandler(handler)
    try:
        configure_logs(environment={}, stream=stream)
        configure_logs(environment={}, stream=stream)
        Logger("livewell.test").warning("thing_happened")
        logging.getLogger("livewell.test").warning("said by %s", "another")
    finally:
        logging.getLogger().removeHandler(handler)
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == [
        "thing_happened",
        "said by another",
    ]
    assert root.getvalue() == ""
