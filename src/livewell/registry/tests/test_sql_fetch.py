"""How a type is fetched is declared with it, kept as it was written, and checked as far as the database can tell."""

from typing import Any

import pytest

from livewell.kernel import Database, DeclarationsRefused, read_declarations
from livewell.registry import InvalidType, RegistryStore, TypeTables, type_fields
from livewell.registry.tests.surface import Registry

QUOTE = """
[type.quote]
endpoint = "sim/quote"
ttl = "1 minute"
fetch = { path = "/quote/{keys}", keys_per_request = 20, items = "$.data[*]", key = "symbol", query = { of = "us" } }
fields.symbol = { type = "string" }
fields.market_cap = { type = "number", from = "mktCap", above = 0, optional = true }
fields.timestamp = { type = "epoch", source_time = true, rule = "not_older" }
extra = "ignore"
"""


def read(text: str) -> dict[str, Any]:
    section = TypeTables()
    declared = read_declarations(text.encode(), "livewell.toml", [section]).sections["type"]
    return {name: type_fields(declaration) for name, declaration in declared.items()}


async def test_a_fetcher_is_kept_as_it_was_declared(registry: Registry, owner: Database) -> None:
    """What was written and no more; applying it again changes nothing, empty text takes it away."""
    wanted = read(QUOTE)
    await owner.execute("select livewell.set_provider('sim', '{\"base_url\": \"https://sim.test\"}')")
    await registry.apply(wanted)
    (found,) = await RegistryStore(owner).list_types(["quote"])
    assert found.fetch_call == {"path": "/quote/{keys}", "items": "$.data[*]", "key": "symbol", "query": {"of": "us"}}
    assert found.fields is not None
    assert found.fields["market_cap"] == {"type": "number", "from": "mktCap", "above": 0, "optional": True}
    assert (found.keys_per_request, found.source_rule, found.extra) == (20, "not_older", "ignore")
    assert {change for _, change, *_ in await registry.apply(wanted)} == {"same"}
    await registry.put("quote", fetch_call="", fields={}, keys_per_request=1)
    (found,) = await RegistryStore(owner).list_types(["quote"])
    assert (found.fetch_call, found.fields) == (None, None)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"fetch_call": {"path": "quote/{key}"}}, "begin with /"),
        ({"fetch_call": {"path": "/quote"}}, "{key}"),
        ({"fetch_call": {"path": "/{key}"}, "keys_per_request": 5}, "{keys}"),
        ({"fetch_call": {"path": "/{keys}"}, "keys_per_request": 5}, "whose a row is"),
        ({"fetch_call": [1]}, "object"),
        ({"fields": [1]}, "object"),
        ({"extra": "allow"}, "extra"),
        ({"fetch_call": {"path": "/{key}"}, "fields": ""}, "fields, or a model"),
        ({"fields": {"x": {"type": "string"}}, "model": "a:B"}, "name one of them"),
    ],
)
async def test_what_cannot_be_fetched_is_refused(registry: Registry, fields: dict[str, Any], said: str) -> None:
    """By the database, whoever writes it."""
    with pytest.raises(InvalidType) as raised:
        await registry.put(
            "quote", endpoint="sim/quote", ttl="1 minute", **{"fields": {"x": {"type": "string"}}, **fields}
        )
    assert said in str(raised.value)


async def test_a_declared_fetcher_needs_an_address(registry: Registry, owner: Database) -> None:
    """A provider without base_url is found when the type goes live; keys without a way to travel are warned about."""
    fields: dict[str, Any] = {
        "endpoint": "sim/quote",
        "ttl": "1 minute",
        "fetch_call": {"path": "/{key}"},
        "fields": {"x": {"type": "string"}},
    }
    with pytest.raises(InvalidType, match="no base_url"):
        await registry.put("quote", **fields)
    await owner.execute("select livewell.set_provider('sim', '{\"base_url\": \"https://sim.test\"}')")
    await owner.execute('select livewell.apply_providers(\'{"keys": {"sim@default": {"source": "env:K"}}}\')')
    await registry.put("quote", **fields)
    assert ("warning", "no_key_in") in await registry.check("quote")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('fetch = { path = "/q/{key}", itms = "$[*]" }', 'unknown field "itms" (did you mean "items"?)'),
        ('fields.x = { type = "string", form = "y" }', 'unknown field "form" (did you mean "from"?)'),
        ('fields.x = { type = "text" }', "type should be"),
        ('fields."a b" = { type = "string" }', "a b"),
        ('fetch = { path = "/q/{kex}" }', "{kex} is neither {key} nor {keys}"),
        ('fetch = { path = "/q/../{key}" }', "path should begin"),
        ('fetch = { path = "/q/{key}", headers = { Host = "x" } }', "header"),
        ('extra = "allow"', "extra should be"),
    ],
)
def test_a_mistake_is_told_where_it_is(line: str, told: str) -> None:
    """In the file, with its line and what was probably meant."""
    with pytest.raises(DeclarationsRefused) as raised:
        read(f'[type.quote]\nttl = "1m"\n{line}\n')
    problem = str(raised.value.problems[0])
    assert problem.startswith("livewell.toml:3: type.quote")
    assert told in problem
