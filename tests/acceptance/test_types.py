"""`livewell types`, `keys-of` and `calendar`, and `[type.x]` of a file, as the owner of a schema runs them."""

import importlib.util

import pytest_asyncio

from livewell.kernel import Database
from livewell.testing import lack, make_market_data, make_table
from tests.acceptance.command import Cli

FILE = """\
[provider.acme.endpoint.quote]
requests = { per_minute = 300 }

[type.quote]
endpoint    = "acme/quote"
ttl         = "1 minute"
table       = "public.quotes"
key_column  = "symbol"
time_column = "fetched_at"
gate        = "market_hours"
floor       = 5
source_time = { rule = "not_older" }

[type.profile]
endpoint = "acme/quote"
ttl      = "1 day"
strategy = "both"
cron     = "0 6 * * *"
bytes    = "50 kB"
"""
WRONG = """\
[type.quote]
endpoint = "fmp"
tll = "1 minute"

[type.profile]
endpoint = "fmp"
ttl = 60
strategy = "sometimes"
source_time = { colum = "at" }
floor = 1000
"""
TOLD = [
    'livewell.toml:3: type.quote: unknown field "tll" (did you mean "ttl"?) [registry.unknown_field]',
    "livewell.toml:7: type.profile: ttl: 60 has no unit; write 500ms, 90s, 10m, 1h30m or 2d [registry.invalid_type]",
    "livewell.toml:8: type.profile: strategy should be 'on_demand', 'scheduled' or 'both' [registry.invalid_type]",
    'livewell.toml:9: type.profile.source_time: unknown field "colum" (did you mean "column"?) [registry.unknown_field]',  # noqa: E501 - as it is printed
    "livewell.toml:10: type.profile: floor should be less than or equal to 999, not 1000 [registry.invalid_type]",
]


@pytest_asyncio.fixture(autouse=True)
async def _market_data(owner: Database) -> None:
    """The account that most of these tests tune."""
    await make_market_data(owner)


async def test_types_of_a_file_are_planned_and_applied_with_their_endpoints(owner_cli: Cli, owner: Database) -> None:
    """A type may stand on an endpoint of the same file; the plan changes nothing, and applied all is as declared."""
    await make_table(owner, "public.quotes")
    (owner_cli.folder / "livewell.toml").write_text(FILE)
    planned = await owner_cli("apply", "--plan")
    assert planned.out.splitlines()[-2:] == [
        "+ type profile (acme/quote, ttl 1 d, record table)",
        "+ type quote (acme/quote, ttl 1 min, public.quotes, gate market_hours)",
    ]
    assert (await owner_cli("types", "list", "--json")).json == []
    assert await owner.fetchval("select count(*) from livewell_private.provider where name = 'acme'") == 0
    assert "applied: 4 things changed" in (await owner_cli("apply", "--yes")).out
    assert "nothing to change" in (await owner_cli("apply")).out
    shown = (await owner_cli("types", "show", "quote", "--json")).json
    assert (shown["ttl"], shown["source_rule"], shown["priority_floor"]) == ("PT1M", "not_older", 5)
    assert (await owner_cli("types", "show", "profile", "--json")).json["expected_bytes"] == 50 * 1024
    (owner_cli.folder / "livewell.toml").write_text(FILE.replace('"1 minute"', '"30 s"'))
    assert "~ type quote: ttl 1 min → 30 s" in (await owner_cli("apply", "--plan")).out


async def test_mistakes_in_a_type_are_told_where_they_stand(owner_cli: Cli) -> None:
    """Each with its line, its table and what was probably meant; those the database finds too."""
    (owner_cli.folder / "livewell.toml").write_text(WRONG)
    assert (await owner_cli("apply", code=2)).err.splitlines() == TOLD
    (owner_cli.folder / "livewell.toml").write_text(
        '[type.quote]\nttl = "1 m"\n\n[type.a]\nendpoint = "fmpp"\nttl = "1d"\n'
    )
    first, second = (await owner_cli("apply", code=2)).err.splitlines()
    assert first.startswith("livewell.toml:1: type.quote: endpoint is missing")
    assert second.startswith("livewell.toml:4: type.a: unknown endpoint fmpp")
    (owner_cli.folder / "livewell.toml").write_text(FILE)
    told = (await owner_cli("apply", code=2)).err
    assert told.startswith("livewell.toml:4: type.quote: there is no table or view public.quotes (create it")


async def test_a_service_login_is_told_who_may_write(cli: Cli) -> None:
    """One line with the fix, and nothing is applied; reading and checking are for everyone."""
    (cli.folder / "livewell.toml").write_text(FILE)
    refused = await cli("apply", "--yes", code=1)
    assert "this login may not write to the registry" in refused.err
    assert "[registry.read_only]" in refused.err
    assert (await cli("providers", "list", "--json")).json[0]["name"] != "acme"
    for words in (
        ["add", "quote", "--endpoint", "fmp", "--ttl", "1m"],
        ["set", "quote", "ttl=1m"],
        ["remove", "quote"],
    ):
        assert "[registry.read_only]" in (await cli("types", *words, code=1)).err
    assert (await cli("types", "list", "--json")).json == []
    assert "0 types checked: nothing is wrong" in (await cli("types", "check")).out


async def test_a_type_is_added_tuned_checked_and_removed(owner_cli: Cli, owner: Database) -> None:
    """One command each, with what is wrong told before it is live."""
    add = ["types", "add", "quote", "--endpoint", "fmp", "--ttl", "1m"]
    table = ["table=public.quotes", "key_column=symbol", "time_column=fetched_at"]
    refused = await owner_cli(*add, *table, code=1)
    assert "type quote: there is no table or view public.quotes" in refused.err
    assert "quote is added, disabled" in (await owner_cli(*add, *table, "enabled=no")).out
    assert "there is a type quote already" in (await owner_cli(*add, code=2)).err
    assert "quote  warning   no_table" in (await owner_cli("types", "check")).out
    await make_table(owner, "public.quotes")
    assert "1 type checked: nothing is wrong" in (await owner_cli("types", "check", "quote")).out
    assert "quote changed" in (await owner_cli("types", "set", "quote", "enabled=yes", "ttl=30s", "floor=7")).out
    assert "is so already" in (await owner_cli("types", "set", "quote", "ttl=30s")).out
    await owner.execute("alter table public.quotes rename to quotes_of_old")
    checked = await owner_cli("types", "check", code=1)
    assert "no_table" in checked.out
    assert "1 error in 1 type: type quote: there is no table" in checked.err
    listed = await owner_cli("types", "list")
    assert "30 s" in listed.out
    assert "did you mean quote?" in (await owner_cli("types", "show", "qoute", code=1)).err
    assert "did you mean quote?" in (await owner_cli("types", "check", "qoute", code=1)).err
    await owner.execute("insert into livewell_private.item (data_type, key, due_at) values ('quote', 'A', now())")
    assert "it has 1 items" in (await owner_cli("types", "remove", "quote", code=1)).err
    assert "quote is removed, with 1 items" in (await owner_cli("types", "remove", "quote", "--force")).out


async def test_how_a_type_is_fetched_is_told_in_json(owner_cli: Cli) -> None:
    """`fetch` and `fields` are the JSON of what a file says, here or in a file of their own; what is none is told."""
    fields = '{"symbol": {"type": "string"}, "at": {"type": "epoch", "source_time": true, "rule": "newer"}}'
    (owner_cli.folder / "fields.json").write_text(fields)
    call = '{"path": "/quote/{keys}", "key": "symbol", "keys_per_request": 5}'
    await owner_cli("providers", "set", "fmp", "base_url=https://fmp.test")
    add = ["types", "add", "quote", "--endpoint", "fmp", "--ttl", "1m"]
    await owner_cli(*add, f"fetch={call}", "fields=@fields.json")
    shown = (await owner_cli("types", "show", "quote", "--json")).json
    assert (shown["fetch_call"]["path"], shown["keys_per_request"]) == ("/quote/{keys}", 5)
    assert (set(shown["fields"]), shown["source_rule"]) == ({"symbol", "at"}, "newer")
    again = ["types", "set", "quote"]
    assert "quote changed" in (await owner_cli(*again, 'fetch={"path": "/q/{keys}", "key": "symbol"}', "floor=3")).out
    assert (await owner_cli("types", "show", "quote", "--json")).json["fetch_call"]["path"] == "/q/{keys}"
    refused = await owner_cli(*again, "fetch=/quote/{keys}", code=2)
    assert "fetch is not JSON" in refused.err
    assert "fetch=@FILE" in refused.err
    refused = await owner_cli(*again, 'fetch={"pfad": "/quote"}', code=2)
    assert "fetch.path: Field required" in refused.err
    refused = await owner_cli(*again, 'fields={"price": {"type": "money"}}', code=2)
    assert "fields.price.type" in refused.err
    assert "JSON, or @FILE" in " ".join((await owner_cli(*again, "--help")).out.split())
    await owner_cli(*again, "fetch=", "fields=", "source_time.rule=")
    assert (await owner_cli("types", "show", "quote", "--json")).json["fetch_call"] is None


async def test_keys_are_imported_listed_and_disabled(owner_cli: Cli) -> None:
    """A file of keys goes in whole or not at all, its bad lines named; what is disabled is shown so."""
    await owner_cli("types", "add", "quote", "--endpoint", "fmp", "--ttl", "1m")
    (owner_cli.folder / "bad.csv").write_text("key,exchange\nAAPL,XNYS\n\n# ours\nB C\nVOD.L,london\n")
    refused = await owner_cli("keys", "import", "quote", "bad.csv", code=1)
    assert "in line 5, 6" in refused.err
    assert (await owner_cli("keys", "list", "quote", "--json")).json == []
    (owner_cli.folder / "good.csv").write_text("key,exchange\nAAPL,XNYS\nMSFT\nVOD.L,XLON\n")
    assert "3 keys added, 0 changed" in (await owner_cli("keys", "import", "quote", "good.csv")).out
    answer = await owner_cli("keys", "import", "quote", "-", "--json", stdin="MSFT\nTSLA\n")
    assert answer.json == {"added": 1, "changed": 0}
    assert "1 key disabled" in (await owner_cli("keys", "disable", "quote", "TSLA", "--reason", "test")).out
    listed = (await owner_cli("keys", "list", "quote", "--after", "AAPL", "--json")).json
    assert [(key["key"], key["active"], key["exchange"]) for key in listed] == [
        ("MSFT", True, None),
        ("TSLA", False, None),
        ("VOD.L", True, "XLON"),
    ]
    assert "1 key enabled" in (await owner_cli("keys", "enable", "quote", "TSLA")).out
    assert "livewell keys list quote --after AAPL" in (await owner_cli("keys", "list", "--limit", "1")).err
    assert [key["data_type"] for key in (await owner_cli("keys", "--json")).json] == ["quote"] * 4
    assert "keys list TYPE --after B" in (await owner_cli("keys", "--after", "B", code=2)).err
    assert "did you mean quote?" in (await owner_cli("keys", "list", "qoute", code=1)).err
    assert "cannot read" in (await owner_cli("keys", "import", "quote", "gone.csv", code=1)).err


async def test_exchanges_are_shown_refreshed_and_ruled(owner_cli: Cli, cli: Cli) -> None:
    """A year of sessions is written on demand, what cannot be had is told, and rules are the owner's."""
    if importlib.util.find_spec("exchange_calendars") is None:
        lack("exchange-calendars is not installed (the extra market)")
    assert "0 sessions" in (await cli("calendars", "refresh")).out
    assert (await cli("calendars", "refresh", "--exchange", "XNYS", "--json")).json["sessions_changed"] > 250
    missing = await cli("calendars", "refresh", "--exchange", "XXXX", code=1)
    assert "the sessions of XXXX could not be had" in missing.err
    assert "keys with .SW are of XSWX" in (await owner_cli("calendars", "rule", ".SW", "XSWX")).out
    assert "keys with .SW are of XSWX already" in (await owner_cli("calendars", "rule", ".SW", "XSWX")).out
    assert "[registry.read_only]" in (await cli("calendars", "rule", ".SW", "XSWX", code=1)).err
    exchanges = {exchange["code"]: exchange for exchange in (await cli("calendars", "list", "--json")).json}
    assert exchanges["XSWX"]["suffixes"] == [".SW"]
    assert exchanges["XNYS"]["known_until"] is not None
    assert "all others" in (await cli("calendars", "list")).out


async def test_the_shipped_task_keeps_the_calendars(owner_cli: Cli, owner: Database) -> None:
    """`market_calendar` runs in any program: the sessions of exchanges in use are there after it."""
    if importlib.util.find_spec("exchange_calendars") is None:
        lack("exchange-calendars is not installed (the extra market)")
    await owner.execute("delete from livewell_private.exchange_rule where suffix <> ''")
    await owner_cli("types", "add", "quote", "--endpoint", "fmp", "--ttl", "1m", "gate=market_hours")
    answer = (await owner_cli("tasks", "run", "market_calendar", "--json")).json
    assert (answer["ok"], answer["result"]["missing"]) == (True, [])
    assert await owner.fetchval("select count(*) from livewell_private.market_session where exchange = 'XNYS'") > 250
