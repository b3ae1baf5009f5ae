-- Tables as an application would have them: Livewell writes what it fetched into them, and keeps their time columns.
create schema if not exists livewell_demo;
grant usage on schema livewell_demo to livewell_owner;

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

grant select, insert, update on all tables in schema livewell_demo to livewell_owner;
