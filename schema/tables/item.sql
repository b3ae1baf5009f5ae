-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell.item (
    id bigint not null generated always as identity,
    data_type text not null,
    key text not null,
    viewers integer not null default 0,
    watched boolean not null generated always as ((viewers > 0)) stored,
    due_at timestamp with time zone not null,
    watched_since timestamp with time zone,
    viewers_average double precision not null default 0,
    averaged_at timestamp with time zone,
    fetched_at timestamp with time zone,
    expires_at timestamp with time zone,
    decision text,
    decided_at timestamp with time zone,
    score double precision,
    last_outcome text,
    last_outcome_at timestamp with time zone,
    failed_check_at timestamp with time zone,
    content_hash bytea,
    fetches integer not null default 0,
    changes integer not null default 0,
    minutes_between double precision not null default 0,
    change_rate double precision,
    rate_weight double precision not null default 0.3,
    bytes_mean double precision,
    created_at timestamp with time zone not null default clock_timestamp(),
    constraint item_counts_are_not_negative CHECK (((fetches >= 0) AND ((changes >= 0) AND (changes <= fetches)) AND (minutes_between >= (0)::double precision))),
    constraint item_has_a_type FOREIGN KEY (data_type) REFERENCES livewell.data_type(name),
    constraint item_is_one_per_type_and_key UNIQUE (data_type, key),
    constraint item_pkey PRIMARY KEY (id),
    constraint item_rate_is_positive CHECK (((change_rate > (0)::double precision) AND (rate_weight > (0)::double precision))),
    constraint item_viewers_are_not_negative CHECK ((viewers >= 0))
) with (fillfactor=70);

CREATE INDEX item_due ON livewell.item USING btree (due_at) WHERE watched;
