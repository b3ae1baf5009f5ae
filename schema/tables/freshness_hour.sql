-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.freshness_hour (
    hour timestamp with time zone not null,
    data_type text not null,
    audience text not null,
    viewer_minutes double precision not null default 0,
    within_ttl double precision not null default 0,
    fresh double precision not null default 0,
    ok double precision not null default 0,
    waits double precision[] not null default '{}'::double precision[],
    overdue double precision[] not null default '{}'::double precision[],
    fetches bigint not null default 0,
    changes bigint not null default 0,
    samples bigint not null default 0,
    samples_fresh bigint not null default 0,
    samples_ok bigint not null default 0,
    constraint figures_are_of_a_whole_hour CHECK ((hour = date_trunc('hour'::text, hour, 'UTC'::text))),
    constraint figures_are_parts_of_a_whole CHECK (((changes <= fetches) AND (samples_fresh <= samples) AND (samples_ok <= samples))),
    constraint figures_audience_is_known CHECK ((audience = ANY (ARRAY['all'::text, 'lone'::text]))),
    constraint figures_have_a_type FOREIGN KEY (data_type) REFERENCES livewell_private.data_type(name) ON DELETE CASCADE,
    constraint freshness_hour_pkey PRIMARY KEY (hour, data_type, audience)
) with (fillfactor=70);

CREATE INDEX freshness_hour_data_type ON livewell_private.freshness_hour USING btree (data_type);
