-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.sample_result (
    id bigint not null generated always as identity,
    data_type text not null,
    fresh boolean not null,
    ok boolean not null,
    constraint sample_result_pkey PRIMARY KEY (id)
);
