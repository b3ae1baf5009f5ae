-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.session_leaving (
    id bigint not null generated always as identity,
    session_id uuid not null,
    gateway text,
    constraint session_leaving_pkey PRIMARY KEY (id)
);

CREATE INDEX session_leaving_session ON livewell_private.session_leaving USING btree (session_id);
