-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.session (
    id uuid not null,
    user_id text collate C not null,
    gateway text,
    last_seen timestamp with time zone not null,
    created_at timestamp with time zone not null default clock_timestamp(),
    constraint session_has_a_gateway FOREIGN KEY (gateway) REFERENCES livewell_private.gateway(name),
    constraint session_has_a_user CHECK (((length(user_id) >= 1) AND (length(user_id) <= 200))),
    constraint session_pkey PRIMARY KEY (id)
) with (fillfactor=70);

CREATE INDEX session_gateway ON livewell_private.session USING btree (gateway) WHERE (gateway IS NOT NULL);

CREATE INDEX session_last_seen ON livewell_private.session USING btree (last_seen) WHERE (gateway IS NULL);

CREATE INDEX session_of_user ON livewell_private.session USING btree (user_id);
