"""The file that `livewell init` writes works, as it is and with everything in it that is commented out."""

import re

import pytest

from livewell.app import Livewell
from livewell.cli.apply import apply_declared, sections
from livewell.cli.first_file import FIRST_FILE
from livewell.fetching import check_fetching
from livewell.kernel import Database, read_declarations
from livewell.presence import Presence
from livewell.simulator import Simulator
from livewell.testing import grant_table, until
from livewell.worker.tests.running import running

_OPTION = re.compile(r"^# (?=[a-z_.]+ *= )", re.MULTILINE)
_WRITTEN = ("key_env", "key_in", "fields.venue", "gate", "strategy", "cron", "table", "key_column", "time_column")


def with_every_comment_taken_off() -> str:
    return _OPTION.sub("", FIRST_FILE)


def test_every_comment_that_is_an_option_is_found() -> None:
    """What a test takes off is everything in the file that could be: all other comments are sentences."""
    assert len(_OPTION.findall(FIRST_FILE)) == len(_WRITTEN)
    left = [line for line in with_every_comment_taken_off().splitlines() if line.startswith("#")]
    assert not [line for line in left if re.search(r"[=\[\]]", line)]


@pytest.mark.parametrize("text", [FIRST_FILE, with_every_comment_taken_off()], ids=["as it is", "uncommented"])
async def test_the_first_file_is_applied_and_run(
    owner_url: str, owner: Database, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Nothing of it is refused, nothing is wrong with its type, and somebody who looks gets a value of the provider."""
    monkeypatch.setenv("ACME_API_KEY", "a-key")
    await owner.execute(
        "create table public.quotes (symbol text primary key, price float8, volume bigint, at timestamptz,"
        " venue text, fetched_at timestamptz)"
    )
    await grant_table(owner, "public.quotes")
    async with Simulator() as simulator, Livewell(owner_url) as app:
        here = text.replace("http://127.0.0.1:8801", simulator.url)
        declared = read_declarations(here.encode(), "livewell.toml", sections())
        assert {change.change for _, change in await apply_declared(app, declared)} == {"add"}
        findings = [*await app.registry.check_types(), *await check_fetching(app.database)]
        assert [finding for finding in findings if finding.severity == "error"] == []
        async with running(app):
            presence = Presence(app.database)
            await presence.subscribe(await presence.open("anna"), [("quote", "AAPL")])

            async def is_stored() -> bool:
                own = "select true from public.quotes where symbol = 'AAPL' and price > 0 and at is not null"
                kept = "select true from livewell_private.record where data_type = 'quote' and key = 'AAPL'"
                return bool(await owner.fetchval(own if "\ntable " in text else kept))

            await until(is_stored, "the value of AAPL is stored")
        assert {call.status for call in simulator.calls} <= {200, 304}
