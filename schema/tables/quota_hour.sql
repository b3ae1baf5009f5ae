-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.quota_hour (
    provider text not null,
    hour timestamp with time zone not null,
    bytes bigint not null default 0,
    requests bigint not null default 0,
    tokens bigint not null default 0,
    returned bigint not null default 0,
    constraint quota_hour_is_not_negative CHECK (((bytes >= 0) AND (requests >= 0) AND (tokens >= 0))),
    constraint quota_hour_pkey PRIMARY KEY (provider, hour)
) with (fillfactor=70);
