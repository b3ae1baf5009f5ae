-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.quota_use (
    provider text not null,
    counted_hour timestamp with time zone not null default '-infinity'::timestamp with time zone,
    counted_bytes bigint not null default 0,
    bucket_bytes double precision not null default 0,
    bucket_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
    returned_seen bigint not null default 0,
    level integer not null default 0,
    constraint quota_use_has_a_provider FOREIGN KEY (provider) REFERENCES livewell_private.provider(name) ON DELETE CASCADE,
    constraint quota_use_pkey PRIMARY KEY (provider)
) with (fillfactor=50);
