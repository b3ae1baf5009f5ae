-- When exchanges are open, and which exchange a key belongs to: what the gate market_hours goes by.

-- An exchange is known for the time its sessions were written for; outside of it nobody can say that it is closed.
create table livewell_private.exchange (
    code text not null,
    known_from timestamptz,
    known_until timestamptz,
    refreshed_at timestamptz,
    constraint exchange_pkey primary key (code),
    constraint exchange_is_a_code check (code ~ '^[A-Z0-9]{1,20}$'),
    constraint exchange_is_known_for_a_while check ((known_from is null) = (known_until is null) and known_until > known_from)
);

-- A day with a break has two sessions.
create table livewell_private.market_session (
    exchange text not null,
    opens_at timestamptz not null,
    closes_at timestamptz not null,
    constraint market_session_pkey primary key (exchange, opens_at),
    constraint market_session_has_an_exchange foreign key (exchange) references livewell_private.exchange (code),
    constraint market_session_opens_before_it_closes check (closes_at > opens_at)
);

-- The exchange of a key by what follows its last point; the empty suffix is for all others.
create table livewell_private.exchange_rule (
    suffix text not null,
    exchange text not null,
    constraint exchange_rule_pkey primary key (suffix),
    constraint exchange_rule_suffix_is_one check (suffix ~ '^(\.[A-Z0-9]{1,10})?$'),
    constraint exchange_rule_names_an_exchange check (exchange ~ '^[A-Z0-9]{1,20}$')
);

insert into livewell_private.exchange_rule (suffix, exchange)
values ('', 'XNYS'), ('.L', 'XLON'), ('.DE', 'XETR'), ('.PA', 'XPAR'), ('.T', 'XTKS'), ('.HK', 'XHKG'), ('.TO', 'XTSE'), ('.AX', 'XASX');
