"""What providers and users wrote, on a terminal and in a log: shown, and never done."""

import io
import json
import re
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.cli.tests.inside import PlainView, alarm, console, draw, note, say, show_json, show_record, show_table
from livewell.cli.tests.test_picture import WARNED, WORKER, _seen
from livewell.kernel import Database, Logger, configure_logs, shown_text, silence_logs
from livewell.testing import effort, make_type
from tests.acceptance.command import Cli

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# A title, colours, the screen wiped, the cursor moved, a link, bells, eight-bit controls, writing turned round.
HOSTILE = (
    "A\x1b]0;owned\x07\x1b[31m\x1b[2J\x1b[1;1H\x1b]8;;http://evil\x1b\\ \x08\x08\x7f\x9b31m\x85"
    "\u202egnp.exe\u202c\u2066x\u2069\u200e\u200f\u061c\u2028\ufeff[red]B[/red]\r"
)
FORGED = "fine\nok  everything is fine"


def is_harmless(text: str) -> bool:
    """Nothing that a terminal would do but ends of lines, tabs and what Rich writes itself."""
    return not any(
        unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character not in "\n\t"
        for character in text
    )


@given(text=st.text(st.characters(codec=None)) | st.just(HOSTILE))
@effort(500)
def test_a_text_is_shown_without_doing_anything(text: str) -> None:
    """No control, no change of direction and no half character is left; what is visible stays as it is."""
    shown = shown_text(text)
    assert not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in shown)
    assert not set(shown) & set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
    if text.isprintable():
        assert shown == text
    document = json.dumps({"text": text}, ensure_ascii=False)
    assert json.loads(shown_text(document)) == {"text": text}


def test_every_way_of_printing_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines, notes, alarms, tables, records, JSON: one place for each, and none lets anything through."""
    say(HOSTILE)
    note(HOSTILE)
    alarm(HOSTILE)
    show_table(("KEY", "WHY"), [(HOSTILE, FORGED)])
    show_record({"key": HOSTILE, "why": {"of": HOSTILE}, "list": [HOSTILE]})
    printed = capsys.readouterr()
    assert is_harmless(printed.out)
    assert is_harmless(printed.err)
    assert "[red]B[/red]" in printed.out
    assert "\nok  everything" not in printed.out
    show_json({"key": HOSTILE})
    out = capsys.readouterr().out
    assert is_harmless(out)
    assert json.loads(out) == {"key": HOSTILE}


def test_a_folded_table_shows(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a terminal is narrow Rich draws the table, and does nothing a cell says either."""
    monkeypatch.setenv("COLUMNS", "40")
    show_table(("KEY", "WHY"), [("a", HOSTILE)])
    out = capsys.readouterr().out
    assert is_harmless(out)
    assert "[red]" in re.sub(r"\s", "", out)


def test_a_live_picture_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """Names of workers, reasons of endpoints, messages of warnings, what happened: on a terminal and on a pipe."""
    seen = _seen(
        workers=[replace(WORKER, name=HOSTILE)],
        warnings=[replace(WARNED, subject=HOSTILE, message=HOSTILE + FORGED)],
        closed_for_good=True,
        closed_reason=HOSTILE,
    )
    console().print(draw(HOSTILE, seen, events=[HOSTILE], hints=[HOSTILE], age=20, lost=HOSTILE))
    with PlainView(HOSTILE) as view:
        view.tell(HOSTILE)
        view.show(seen.figures, seen.market, seen.news)
    out = capsys.readouterr().out
    assert is_harmless(ANSI.sub("", out))
    assert "[red]B[/red]" in out
    assert "\nok  everything" not in out


@pytest.mark.parametrize("shape", ["console", "json"])
def test_a_log_shows(shape: str) -> None:
    """Each line is one line, as it was written by us: fields, events and what an exception says."""
    stream = io.StringIO()
    configure_logs(environment={"LIVEWELL_LOG_FORMAT": shape}, stream=stream)
    log = Logger("livewell.test")
    try:
        log.warning("key_refused", key=HOSTILE, why=FORGED, more={"of": HOSTILE, "list": [HOSTILE]})
        lines = stream.getvalue()
        try:
            raise ValueError(HOSTILE)
        except ValueError:
            log.exception("broken", key=HOSTILE)
    finally:
        silence_logs()
    assert lines.count("\n") == 1
    assert is_harmless(stream.getvalue())
    if shape == "json":
        assert json.loads(lines)["key"] == HOSTILE


def test_a_record_of_logging_shows(caplog: pytest.LogCaptureFixture) -> None:
    """Also where a program reads our logs by Python's own `logging`."""
    Logger("livewell.test").warning("key_refused", key=HOSTILE, why=FORGED)
    assert is_harmless(caplog.records[0].getMessage())
    assert "\n" not in caplog.records[0].getMessage()


async def test_commands_show_what_the_database_holds(owner: Database, owner_url: str, tmp_path: Path) -> None:
    """Jobs, warnings, explanations: as a user of the command line reads them, for people and as JSON."""
    hostile = HOSTILE.replace("\x00", "")
    await make_type(owner, "quote")
    await owner.execute("insert into livewell_private.job_kind (kind) values ('report')")
    request = [{"kind": "report", "payload": {"a": hostile}, "dedupe_key": hostile, "serial_key": hostile}]
    (job,) = await owner.fetch("select job_id from livewell.enqueue_jobs($1::jsonb)", json.dumps(request))
    now = datetime.now(UTC)
    await owner.execute("select livewell_private.warn('fetching.failed', $1, $2, $3)", hostile, hostile + FORGED, now)
    await owner.execute(
        "insert into livewell_private.item (data_type, key, due_at, created_at, last_reason) values ('quote',"
        " 'A', $1, $1, $2)",
        now,
        hostile[:100],
    )
    cli = Cli(tmp_path, owner_url)
    for command in (
        ["jobs", "list"],
        ["jobs", "show", job["job_id"]],
        ["warnings"],
        ["explain", "quote", "A"],
    ):
        for form in ([], ["--json"]):
            ran = await cli(*command, *form)
            assert is_harmless(ran.out), ran
            assert is_harmless(ran.err), ran
            if form:
                assert ran.json is not None
    refused = await cli("types", "show", HOSTILE.replace("\x00", ""), code=1)
    assert is_harmless(refused.err)


async def test_tail_shows_what_a_provider_sent(owner: Database, owner_url: str, tmp_path: Path) -> None:
    """Names and values of an answer, for people and as JSON, which has them as they were sent."""
    hostile = HOSTILE.replace("\x00", "")
    await make_type(owner, "quote")
    await owner.execute(
        "insert into livewell_private.record (data_type, key, value, fetched_at) values ('quote', 'A',"
        " $1::jsonb, now())",
        json.dumps({"price": hostile, hostile: [hostile + FORGED]}),
    )
    cli = Cli(tmp_path, owner_url)
    for form in ([], ["--json"]):
        ran = await cli("tail", "quote", "A", "--count", 1, *form)
        assert is_harmless(ran.out), ran
        assert is_harmless(ran.err), ran
        assert not form or ran.json["value"]["price"] == hostile
