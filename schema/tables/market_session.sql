-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.market_session (
    exchange text not null,
    opens_at timestamp with time zone not null,
    closes_at timestamp with time zone not null,
    constraint market_session_has_an_exchange FOREIGN KEY (exchange) REFERENCES livewell_private.exchange(code),
    constraint market_session_opens_before_it_closes CHECK ((closes_at > opens_at)),
    constraint market_session_pkey PRIMARY KEY (exchange, opens_at)
);
