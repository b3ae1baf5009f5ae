"""`livewell sessions`, `viewers` and `presence`, and sources from a file, as an operator runs them."""

from livewell.kernel import Database
from livewell.presence import Presence
from livewell.testing import make_type
from tests.acceptance.command import Cli

FILE = """\
[presence.web]
reads = "public.looking"
every = "5 seconds"
"""


async def test_who_is_there_and_what_they_look_at(cli: Cli, database: Database, owner: Database) -> None:
    """Sessions with their users, items with their viewers; for people and for scripts."""
    await make_type(owner, "quote")
    presence = Presence(database)
    anna, bert = await presence.open("anna"), await presence.open("bert")
    await presence.subscribe(anna, [("quote", "AAPL"), ("quote", "MSFT")])
    await presence.subscribe(bert, [("quote", "AAPL")])
    listed = (await cli("sessions", "list", "--json")).json
    assert {(session["user_id"], session["items"]) for session in listed} == {("anna", 2), ("bert", 1)}
    assert "bert" not in (await cli("sessions", "list", "--user", "anna")).out
    lines = (await cli("viewers")).out.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [["quote", "AAPL", "2"], ["quote", "MSFT", "1"]]
    (one,) = (await cli("viewers", "quote", "MSFT", "--json")).json
    assert (one["key"], one["viewers"]) == ("MSFT", 1)


async def test_a_source_is_declared_and_shown(cli: Cli, owner: Database) -> None:
    """Planned, applied, read by its task, and shown with how that went; what is wrong is told where it stands."""
    await make_type(owner, "quote")
    (cli.folder / "livewell.toml").write_text(FILE)
    refused = await cli("apply", "--yes", code=2)
    assert refused.err.startswith("livewell.toml:1: presence.web: there is no table, view or function public.looking()")
    await owner.execute("create table public.looking as select 'anna' as user_id, 'quote' as data_type, 'AAPL' as key")
    await owner.execute("grant select on public.looking to livewell_reader")
    assert "+ presence source web (reads public.looking)" in (await cli("apply", "--yes")).out
    assert "not read yet" in (await cli("presence", "sources")).out
    await cli("tasks", "run", "presence_sources", "--force")
    (source,) = (await cli("presence", "sources", "--json")).json
    assert (source["name"], source["users"], source["rows_read"], source["last_error"]) == ("web", 1, 1, None)
    assert "nothing to change" in (await cli("apply", "--yes")).out
    (cli.folder / "livewell.toml").write_text(FILE.replace("reads", "read"))
    assert "[presence.unknown_field]" in (await cli("apply", code=2)).err
