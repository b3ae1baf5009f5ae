"""`livewell types export`: the values of types as TypeScript and as JSON Schema, as a page is told them."""

from collections.abc import Sequence
from pathlib import Path

import pytest_asyncio

from livewell.kernel import Database
from livewell.testing import make_market_data
from tests.acceptance.command import Cli

FILE = """\
[provider.acme]
base_url = "https://api.example.com"
[provider.acme.endpoint.quote]
requests = { per_minute = 300 }

[type.bar]
endpoint = "acme/quote"
ttl = "1 minute"
fetch = { path = "/bars/{key}", rows = "many" }
fields.at = { type = "epoch" }
fields.close = { type = "number" }

[type.holding]
description = "Who holds it. */ console.log(1)"
endpoint = "acme/quote"
ttl = "1 day"
table = "public.holdings"
key_column = "symbol"
time_column = "fetched_at"

[type.lost]
endpoint = "acme/quote"
ttl = "1 day"
enabled = false
table = "public.nowhere"
key_column = "symbol"
time_column = "fetched_at"

[type.profile]
endpoint = "acme/quote"
ttl = "1 day"
model = "shapes:Company"
fetch = { path = "/profile/{key}" }

[type.quote]
endpoint = "acme/quote"
ttl = "1 minute"
key_pattern = "^[A-Z]{1,5}$"
fetch = { path = "/quote/{key}" }
fields.symbol = { type = "string" }
fields.price = { type = "number", optional = true }
fields.session = { type = "string", one_of = ["open", "closed"] }
fields.lot = { type = "integer", one_of = [1, 100], optional = true }
fields.raw = { type = "json" }

[type.remark]
endpoint = "acme/quote"
ttl = "1 day"
"""
MODELS = """\
from livewell import Model


class Address(Model):
    street: str
    lines: list[str | None]


class Company(Model):
    name: str
    employees: int | None
    addresses: list[Address]
    tags: dict[str, float]
    parent: "Company | None"
"""
TABLE = """
create domain public.percent as numeric check (value <= 100);
create table public.holdings (
    symbol text not null, holder text not null, shares bigint not null, share public.percent, since date,
    "as of" timestamptz, tags text[] not null, raw jsonb, fetched_at timestamptz, unique (symbol, holder)
);
grant select on public.holdings to livewell_reader;
grant insert, update on public.holdings to livewell_writer;
"""
QUOTE = """\
    /** Its keys are like ^[A-Z]{1,5}$ */
    quote: {
      lot: 1 | 100 | null;
      price: number | null;
      raw: unknown;
      session: "open" | "closed";
      symbol: string;
    };
"""
HOLDING = """\
    holding: {
      symbol: string;
      holder: string;
      shares: number;
      share: number | null;
      since: string | null;
      "as of": string | null;
      tags: (string | null)[];
      raw: unknown;
      fetched_at: string | null;
    }[];
"""
BAR = """\
    bar: {
      at: string;
      close: number;
    }[];
"""
COMPANY = """\
    profile: {
      name: string;
      employees: number | null;
      addresses: {
        street: string;
        lines: (string | null)[];
      }[];
      tags: Record<string, number>;
      parent: unknown;
    };
"""


@pytest_asyncio.fixture
async def declared(owner: Database, owner_url: str, database_url: str, tmp_path: Path) -> Cli:
    """The types above, and the command line of somebody who may only look."""
    await make_market_data(owner)
    await owner.execute(TABLE)
    (tmp_path / "shapes.py").write_text(MODELS)
    (tmp_path / "livewell.toml").write_text(FILE)
    await Cli(tmp_path, owner_url, PYTHONPATH=str(tmp_path))("apply", "--yes")
    return Cli(tmp_path, database_url, PYTHONPATH=str(tmp_path))


async def test_types_are_declared_from_fields_tables_and_models(declared: Cli) -> None:
    """What a page is told of a value is what a read of it shows, and nothing that is not known."""
    out = (await declared("types", "export", "--ts")).out
    assert out.startswith("// Written by `livewell types export --ts`.")
    assert 'declare module "@livewell/client" {\n  interface Types {\n' in out
    for expected in (QUOTE, HOLDING, BAR, COMPANY):
        assert expected in out, out
    assert _names(out) == ["bar", "holding", "lost", "profile", "quote", "remark"]
    assert "Its value is unknown: there is no table public.nowhere. */\n    lost: unknown;" in out
    assert "    remark: unknown;" in out
    assert out.count("*/") == out.count("/**"), "a description ends no comment"


async def test_some_types_can_be_named(declared: Cli) -> None:
    """Who names types gets these; one that is not there is told, with what was probably meant."""
    assert _names((await declared("types", "export", "quote", "--ts")).out) == ["quote"]
    assert "did you mean quote?" in (await declared("types", "export", "qoute", "--ts", code=1)).err


async def test_the_shapes_are_json_schema_too(declared: Cli) -> None:
    """Other languages have generators of their own, which read JSON Schema."""
    shapes = (await declared("types", "export", "--json")).json
    assert shapes["lost"] is None
    assert shapes["holding"]["type"] == "array"
    assert shapes["holding"]["items"]["properties"]["shares"] == {"type": "number"}
    assert shapes["quote"]["required"] == ["lot", "price", "raw", "session", "symbol"]


async def test_the_form_must_be_said(cli: Cli) -> None:
    """Neither form, or both at once, is a question, not an answer."""
    assert "--ts" in (await cli("types", "export", code=2)).err
    await cli("types", "export", "--ts", "--json", code=2)


def _names(out: str) -> Sequence[str]:
    return [line.strip().split(":")[0] for line in out.splitlines() if line.startswith("    ") and line[4] not in " /}"]
