"""`livewell kinds` as an operator runs it."""

from livewell.audit import AuditStore
from livewell.kernel import Database
from tests.acceptance.command import Cli

PROGRAM = """
from pydantic import BaseModel
from livewell import Livewell

app = Livewell()

class Report(BaseModel):
    month: int

@app.job("report", group="slow", retries=7)
async def make_report(job: Report) -> None: ...
"""


async def test_a_kind_is_declared_tuned_paused_and_resumed(cli: Cli, database: Database) -> None:
    """Kinds of a module are made known, and what is tuned or paused is shown and audited."""
    (cli.folder / "reports.py").write_text(PROGRAM)
    assert (await cli("kinds", "declare", "reports:app")).out == "report\n"
    await cli("kinds", "set", "report", "lease=90s", "retries=2", "payload_schema=", "--reason", "tuned")
    shown = (await cli("kinds", "show", "report", "--json")).json
    assert (shown["queue_group"], shown["retries"], shown["lease"]) == ("slow", 2, "PT1M30S")
    assert shown["payload_schema"] is None
    assert "until resumed" in (await cli("kinds", "pause", "report", "--reason", "away")).out
    await cli("kinds", "pause", "report", "--for", "30m", "--reason", "soon back")
    (listed,) = [kind for kind in (await cli("kinds", "list", "--json")).json if kind["kind"] == "report"]
    assert (listed["paused_for_good"], listed["paused_reason"]) == (False, "soon back")
    assert listed["paused_until"] is not None
    assert "claimed again" in (await cli("kinds", "resume", "report")).out
    events = [entry.event for entry in await AuditStore(database).list_entries()]
    assert events == ["kind_resumed", "kind_paused", "kind_paused", "kind_changed", "kind_declared"]


async def test_what_a_kind_cannot_be_is_refused(cli: Cli, database: Database) -> None:
    """Unknown kinds and fields, values that do not fit and times gone by are one line each, and change nothing."""
    for args, told in [
        (("show", "report_generatoin"), "did you mean report_generation?) [jobs.unknown_kind]"),
        (("set", "report_generation", "retrys=1"), "[jobs.invalid_kind]"),
        (("set", "report_generation", "retries=often"), "[jobs.invalid_kind]"),
        (("pause", "report_generation", "--until", "2020-01-01T00:00Z"), "[jobs.invalid_kind]"),
        (("resume", "report_generatoin"), "[jobs.unknown_kind]"),
        (("declare", "nothing:app"), "[cli.no_application]"),
    ]:
        refused = await cli("kinds", *args, code=1)
        assert refused.err.endswith(f"{told}\n"), refused
        assert refused.err.count("\n") == 1, refused
    assert await AuditStore(database).list_entries() == []
