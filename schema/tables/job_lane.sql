-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.job_lane (
    id integer not null generated always as identity,
    kind text not null,
    endpoint text,
    constraint job_lane_pkey PRIMARY KEY (id),
    constraint lane_has_a_kind FOREIGN KEY (kind) REFERENCES livewell_private.job_kind(kind),
    constraint lane_is_one_per_kind_and_endpoint UNIQUE NULLS NOT DISTINCT (kind, endpoint)
);
