-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.subject (
    id text collate C not null,
    kind text not null,
    owner text collate C not null,
    tenant text,
    created_at timestamp with time zone not null default clock_timestamp(),
    constraint subject_has_a_kind CHECK ((kind ~ '^[a-z][a-z0-9_-]{0,62}$'::text)),
    constraint subject_has_an_id CHECK (((length(id) >= 1) AND (length(id) <= 200))),
    constraint subject_has_an_owner CHECK (((length(owner) >= 1) AND (length(owner) <= 200))),
    constraint subject_pkey PRIMARY KEY (id),
    constraint subject_tenant_is_a_text CHECK (((length(tenant) >= 1) AND (length(tenant) <= 200)))
);

CREATE INDEX subject_owner ON livewell_private.subject USING btree (owner);
