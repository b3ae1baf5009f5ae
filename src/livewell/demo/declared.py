"""What the demonstration declares: tables as an application would have them, and a `livewell.toml`."""

TABLES = """
-- Tables as an application would have them: Livewell writes what it fetched into them, and keeps their time columns.
create schema if not exists livewell_demo;
grant usage on schema livewell_demo to livewell_reader;

create table if not exists livewell_demo.live_quote_indicators (
    symbol text primary key,
    price numeric not null,
    change numeric not null,
    volume bigint not null,
    market_cap numeric not null,
    quoted_at timestamptz not null,
    fetched_at timestamptz,
    first_seen_at timestamptz not null default now()
);

create table if not exists livewell_demo.profiles (
    symbol text primary key,
    company_name text not null,
    sector text not null,
    employees integer not null,
    modified_at timestamptz,
    own_ttl interval
);

create table if not exists livewell_demo.financial_statements (
    symbol text not null,
    year integer not null,
    period text not null,
    revenue numeric not null,
    net_income numeric not null,
    free_cash_flow numeric not null,
    total_assets numeric not null,
    total_liabilities numeric not null,
    fetched_at timestamptz,
    primary key (symbol, year, period)
);

create table if not exists livewell_demo.ratios_ttm (
    symbol text primary key,
    pe_ratio double precision not null,
    current_ratio double precision not null,
    debt_ratio double precision not null,
    fetched_at timestamptz
);

create table if not exists livewell_demo.earnings_data (
    symbol text not null,
    day date not null,
    eps double precision not null,
    eps_estimated double precision not null,
    fetched_at timestamptz,
    primary key (symbol, day)
);

grant select on all tables in schema livewell_demo to livewell_reader;
grant insert, update on all tables in schema livewell_demo to livewell_writer;
"""

DECLARED = """
# What the demonstration declares; the address is the simulator's of this run.

[provider.demo]
base_url      = "BASE_URL"
allow_private = true
quota         = { bytes = "20 GB", window = "1 day", use = 0.95, pace = "even" }

[provider.demo.endpoint.quote]
requests   = { per_minute = 600 }
concurrent = 10

[provider.demo.endpoint.documents]
requests   = { per_minute = 300 }
concurrent = 10

[type.quote]
read        = "public"
endpoint    = "demo/quote"
ttl         = "5 seconds"
bytes       = "2 kB"
table       = "livewell_demo.live_quote_indicators"
key_column  = "symbol"
time_column = "fetched_at"
source_time = { column = "quoted_at", rule = "not_older" }
extra       = "ignore"
fetch       = { path = "/quote/{keys}", keys_per_request = 20, items = "$[*]", key = "symbol" }
fields.symbol     = { type = "string" }
fields.price      = { type = "number", above = 0, below = 1_000_000_000 }
fields.change     = { type = "number" }
fields.volume     = { type = "integer", at_least = 0 }
fields.market_cap = { type = "number", from = "marketCap", above = 0 }
fields.quoted_at  = { type = "epoch", from = "timestamp", source_time = true }

[type.profile]
endpoint    = "demo/documents"
ttl         = "1 minute"
bytes       = "5 kB"
table       = "livewell_demo.profiles"
key_column  = "symbol"
time_column = "modified_at"
ttl_column  = "own_ttl"
extra       = "ignore"
fetch       = { path = "/profile/{key}", items = "$[*]", key = "symbol" }
fields.symbol       = { type = "string" }
fields.company_name = { type = "string", from = "companyName", min_length = 1 }
fields.sector       = { type = "string" }
fields.employees    = { type = "integer", from = "fullTimeEmployees", at_least = 0 }

[type.financial-statements]
endpoint    = "demo/documents"
ttl         = "1 minute"
table       = "livewell_demo.financial_statements"
key_column  = "symbol"
time_column = "fetched_at"
floor       = 500
bytes       = "50 kB"
extra       = "ignore"
fetch       = { path = "/financial-statements/{key}", items = "$[*]", key = "symbol", rows = "many" }
fields.symbol            = { type = "string" }
fields.year              = { type = "integer", from = "calendarYear" }
fields.period            = { type = "string", one_of = ["Q1", "Q2", "Q3", "Q4", "FY"] }
fields.revenue           = { type = "number" }
fields.net_income        = { type = "number", from = "netIncome" }
fields.free_cash_flow    = { type = "number", from = "freeCashFlow" }
fields.total_assets      = { type = "number", from = "totalAssets" }
fields.total_liabilities = { type = "number", from = "totalLiabilities" }

[type.ratios-ttm]
endpoint    = "demo/documents"
ttl         = "1 minute"
bytes       = "5 kB"
table       = "livewell_demo.ratios_ttm"
key_column  = "symbol"
time_column = "fetched_at"
extra       = "ignore"
fetch       = { path = "/ratios-ttm/{key}", items = "$[*]", key = "symbol" }
fields.symbol        = { type = "string" }
fields.pe_ratio      = { type = "number", from = "peRatioTTM" }
fields.current_ratio = { type = "number", from = "currentRatioTTM" }
fields.debt_ratio    = { type = "number", from = "debtRatioTTM" }

[type.earnings]
endpoint    = "demo/documents"
ttl         = "1 minute"
table       = "livewell_demo.earnings_data"
key_column  = "symbol"
time_column = "fetched_at"
bytes       = "10 kB"
extra       = "ignore"
fetch       = { path = "/earnings/{key}", items = "$[*]", key = "symbol", rows = "many" }
fields.symbol        = { type = "string" }
fields.day           = { type = "date", from = "date" }
fields.eps           = { type = "number" }
fields.eps_estimated = { type = "number", from = "epsEstimated" }

# No table: Livewell keeps the data in its own.
[type.dividend-history]
endpoint = "demo/documents"
ttl      = "1 minute"
bytes    = "5 kB"
extra    = "ignore"
fetch    = { path = "/dividend-history/{key}", items = "$[*]", key = "symbol", rows = "many" }
fields.symbol   = { type = "string" }
fields.date     = { type = "date" }
fields.dividend = { type = "number", at_least = 0 }
"""
