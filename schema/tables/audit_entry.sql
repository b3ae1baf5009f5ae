-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.audit_entry (
    id bigint not null generated always as identity,
    at timestamp with time zone not null,
    xid xid8 not null,
    event text not null,
    table_name text,
    record_id text,
    operation text,
    old jsonb,
    new jsonb,
    reason text,
    actor text not null,
    login text not null default ''::text,
    subject text,
    job_id bigint,
    detail jsonb,
    constraint audit_entry_actor_is_given CHECK ((actor <> ''::text)),
    constraint audit_entry_event_is_a_word CHECK ((event ~ '^[a-z][a-z0-9_]*$'::text)),
    constraint audit_entry_is_numbered_once PRIMARY KEY (id),
    constraint audit_entry_is_under_16_mib CHECK ((((COALESCE(pg_column_size(old), 0) + COALESCE(pg_column_size(new), 0)) + COALESCE(pg_column_size(detail), 0)) < 16777216)),
    constraint audit_entry_operation_is_a_word CHECK ((operation ~ '^[a-z][a-z0-9_]*$'::text)),
    constraint audit_entry_time_has_a_four_digit_year CHECK (((at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (at < '9999-12-31 00:00:00+00'::timestamp with time zone)))
);

CREATE INDEX audit_entry_by_actor ON livewell_private.audit_entry USING btree (actor, id);

CREATE INDEX audit_entry_by_event ON livewell_private.audit_entry USING btree (event, id);

CREATE INDEX audit_entry_by_job ON livewell_private.audit_entry USING btree (job_id, id) WHERE (job_id IS NOT NULL);

CREATE INDEX audit_entry_by_record ON livewell_private.audit_entry USING btree (table_name, record_id, id) WHERE (table_name IS NOT NULL);

CREATE INDEX audit_entry_by_subject ON livewell_private.audit_entry USING btree (subject, id) WHERE (subject IS NOT NULL);

CREATE INDEX audit_entry_by_time ON livewell_private.audit_entry USING brin (at);
