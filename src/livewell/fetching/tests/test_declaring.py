"""What `types check` calls an error is refused when it is declared, all of it, and nothing is half done."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from livewell.app import Livewell
from livewell.fetching import Call, Fetcher, Model, TypeSection, bounded, check_fetching
from livewell.kernel import Database, DatabaseOptions, LivewellError, read_declarations
from livewell.registry import DataType, InvalidType, RegistryStore
from livewell.testing import grant_table, make_endpoint

QUOTES = """
[type.quote]
endpoint = "sim/quote"
ttl = "1 minute"
table = "public.quotes"
key_column = "symbol"
time_column = "fetched_at"
fetch = { path = "/quote/{keys}", keys_per_request = 20, key = "symbol" }
fields.symbol = { type = "string" }
fields.price = { type = "number", from = "last.price" }
fields.at = { type = "epoch", source_time = true, rule = "not_older" }
extra = "ignore"
"""


async def apply(owner: Database, text: str, *, plan_only: bool = False, lock_timeout: str = "1min") -> list[str]:
    """What a file changes of its types."""
    section = TypeSection()
    declared = read_declarations(text.encode(), "livewell.toml", [section]).sections["type"]
    async with owner.transaction() as connection:
        await connection.execute(f"set local lock_timeout = '{lock_timeout}'")
        changes = await section.apply(connection, declared, plan_only=plan_only, actor="tests")
    return [change.change for change in changes]


async def refused(owner: Database, text: str) -> list[tuple[str | int, str, str | None]]:
    """What a file is refused for: the type, the problem and its fix."""
    section = TypeSection()
    with pytest.raises(InvalidType) as raised:
        await apply(owner, text)
    told: Sequence[tuple[tuple[str | int, ...], LivewellError]] = section.told_of(raised.value)
    return [(path[1], fact.message, fact.fix) for path, fact in told]


async def quote(owner: Database) -> DataType:
    (found,) = await RegistryStore(owner).list_types(["quote"])
    return found


@pytest_asyncio.fixture
async def market(owner: Database) -> Database:
    await make_endpoint(owner, "sim/quote")
    await owner.execute("select livewell.set_provider('sim', '{\"base_url\": \"https://sim.test\"}')")
    await owner.execute(
        "create table public.quotes (symbol text primary key, price float8, at timestamptz, fetched_at timestamptz)"
    )
    await grant_table(owner, "public.quotes")
    return owner


async def test_a_source_time_names_its_column(market: Database) -> None:
    """`source_time = true` is all there is to say: the column follows the field, and goes when the table does."""
    assert await apply(market, QUOTES) == ["add"]
    assert (await quote(market)).source_time_column == "at"
    assert await apply(market, QUOTES) == ["same"]
    assert [finding for finding in await check_fetching(market) if finding.severity == "error"] == []
    await market.execute("alter table public.quotes add seen timestamptz")
    await apply(market, QUOTES.replace("fields.at", "fields.seen"))
    assert (await quote(market)).source_time_column == "seen"
    await apply(market, '[type.quote]\ntable = ""')
    assert (await quote(market)).source_time_column is None


async def test_a_source_time_may_have_another_column(market: Database) -> None:
    """What is said of it is kept: the field only stands in where nothing is."""
    await market.execute("alter table public.quotes add source_at timestamptz")
    await apply(market, QUOTES + 'source_time.column = "source_at"\n')
    await apply(market, QUOTES)
    assert (await quote(market)).source_time_column == "source_at"


async def test_everything_that_is_wrong_is_told_at_once(market: Database) -> None:
    """Of every type, with what to write; what is found in the database, in the model and in the table alike."""
    await make_endpoint(market, "bare/news")
    text = """
    [type.quote]
    endpoint = "sim/quote"
    ttl = "1 minute"
    table = "public.quotes"
    key_column = "symbol"
    time_column = "fetched_at"
    fetch = { path = "/quote/{key}" }
    fields.price = { type = "string" }
    fields.volume = { type = "integer" }

    [type.news]
    endpoint = "bare/news"
    ttl = "1 minute"
    fetch = { path = "/news/{key}" }
    fields.title = { type = "string" }

    [type.odds]
    endpoint = "bare/odds"
    ttl = "1 minute"

    [type.scores]
    ttl = "1 minute"
    """
    found = await refused(market, text)
    assert [(name, problem) for name, problem, _ in found] == [
        ("news", "provider bare has no base_url"),
        ("odds", "unknown endpoint bare/odds"),
        ("scores", 'endpoint is missing: where is it fetched from? write endpoint = "PROVIDER/NAME"'),
        ("quote", "price of public.quotes is double precision, the model has string"),
        ("quote", "public.quotes has no column volume"),
    ]
    fixes = [fix for _, _, fix in found]
    assert fixes[0] == 'write [provider.bare] base_url = "https://…"'
    assert "[provider.bare.endpoint.odds] requests = { per_minute = 60 }" in (fixes[1] or "")
    assert await RegistryStore(market).list_types() == []


@pytest.mark.parametrize(
    ("changed", "to", "said"),
    [
        ('"symbol" }', '"@" }', None),
        ('type = "epoch"', 'type = "datetime", zone = "Mars/Olympus"', "name of the time zone database"),
        ("source_time = true, rule", "rule", None),
        (
            'fetch = { path = "/quote/{keys}", keys_per_request = 20, key = "symbol" }',
            'model = "no.such:Fetcher"',
            None,
        ),
    ],
)
async def test_what_a_check_calls_an_error_is_refused(
    market: Database, changed: str, to: str, said: str | None
) -> None:
    """Whoever finds it: the reading of the file, the database, or who would fetch."""
    with pytest.raises(LivewellError) as raised:
        await apply(market, QUOTES.replace(changed, to))
    assert said is None or said in f"{raised.value}{raised.value.detail}"
    assert await RegistryStore(market).list_types() == []


async def test_a_disabled_type_may_wait_for_its_table(market: Database) -> None:
    """It is declared all the same, and what is missing is a warning of the check, no error."""
    await market.execute("drop table public.quotes")
    await apply(market, QUOTES + "enabled = false\n")
    findings = [*await RegistryStore(market).check_types(), *await check_fetching(market)]
    assert {finding.severity for finding in findings} == {"warning"}
    assert "there is no table or view public.quotes" in {finding.message for finding in findings}


async def test_a_plan_changes_nothing(market: Database) -> None:
    """It is made by writing and taking back."""
    assert await apply(market, QUOTES, plan_only=True) == ["add"]
    assert await RegistryStore(market).list_types() == []


async def test_a_plan_neither_waits_for_an_item_nor_writes_one(market: Database) -> None:
    """What is watched is due with the commit of a changed type, but for what somebody holds; a plan leaves it alone."""
    await apply(market, QUOTES)
    await market.execute(
        "insert into livewell_private.item (data_type, key, viewers, due_at)"
        " select 'quote', k, 1, clock_timestamp() + interval '1 day' from unnest('{A,HELD}'::text[]) as k"
    )
    changed = QUOTES.replace("1 minute", "2 minutes")
    written = "select xmin, xmax, due_at from livewell_private.item where key = 'A'"
    due = "select count(*) from livewell_private.item where due_at <= clock_timestamp()"
    before = await market.fetchrow(written)
    async with market.transaction() as holder:
        await holder.execute("select from livewell_private.item where key = 'HELD' for update")
        assert await apply(market, changed, plan_only=True, lock_timeout="100ms") == ["change"]
        assert await market.fetchrow(written) == before
        assert await apply(market, changed) == ["change"]
        assert ((await quote(market)).ttl, await market.fetchval(due)) == (timedelta(minutes=2), 1)
    await market.execute("select livewell_private.look_at_freed_items(clock_timestamp())")
    assert await market.fetchval(due) == 2


class Quote(Model):
    symbol: str
    price: float
    at: datetime = bounded(source_time=True)


class Quotes(Fetcher[Quote]):
    async def fetch(self, call: Call) -> Sequence[Any]:
        return await call.get(f"/quote/{call.key}").items()


async def test_a_type_that_moves_into_a_program_leaves_nothing_behind(market: Database) -> None:
    """The call, the fields, keys per request and what follows from them go; what else the file said stays."""
    await apply(market, QUOTES + "floor = 7\n")
    app = Livewell(options=DatabaseOptions(url=market.options.url))
    app.type("quote", endpoint="sim/quote", ttl="2 minutes")(Quotes)
    async with app:
        found = await quote(market)
    assert (found.fetch_call, found.fields, found.model, found.extra) == (None, None, None, "refuse")
    assert (found.keys_per_request, found.source_rule, found.source_time_column) == (1, None, None)
    assert (found.table_name, found.priority_floor) == ("public.quotes", 7)


async def test_what_a_program_tuned_stays_when_it_starts_again(market: Database) -> None:
    """Only a call that was declared is forgotten with what came with it: keys per request tuned since are kept."""
    app = Livewell(options=DatabaseOptions(url=market.options.url))
    app.type("quote", endpoint="sim/quote", ttl="2 minutes", extra="ignore")(Quotes)
    async with app:
        await RegistryStore(market).set_type("quote", {"priority_floor": 9}, reason=None, actor="tests")
    async with app:
        found = await quote(market)
    assert (found.priority_floor, found.extra) == (9, "ignore")


async def test_the_source_time_of_a_model_names_its_column(market: Database) -> None:
    """In Python as in a file: the field that is marked."""
    app = Livewell(options=DatabaseOptions(url=market.options.url))
    app.type(
        "quote",
        endpoint="sim/quote",
        ttl="1 minute",
        table="public.quotes",
        key_column="symbol",
        time_column="fetched_at",
    )(Quotes)
    async with app:
        assert (await quote(market)).source_time_column == "at"


def test_a_path_that_is_none_is_refused_where_a_program_declares_it() -> None:
    """At the decorator, before any database is asked, with what is supported."""
    fields = {"home": {"type": "string", "from": "teams..home"}}
    with pytest.raises(InvalidType, match="recursive descent") as refused:
        Livewell().type("match", endpoint="sim/quote", ttl="1 minute", fields=fields)
    assert "teams.home" in refused.value.message


async def test_a_key_that_is_nowhere_is_refused_when_a_program_opens(market: Database) -> None:
    """A fetcher that takes its key from what is neither a field nor a path is told so before it fetches."""

    class Lost(Quotes):
        key = "05. symbol"

    app = Livewell(options=DatabaseOptions(url=market.options.url))
    app.type("quote", endpoint="sim/quote", ttl="1 minute")(Lost)
    with pytest.raises(InvalidType, match="is no field of Quote, and no path"):
        await app.__aenter__()
    assert await RegistryStore(market).list_types() == []
