-- Entries are written unchained, so that writers never queue behind each other; seals chain them afterwards.
create table livewell_private.audit_entry (
    id bigint generated always as identity,
    at timestamptz not null,
    xid xid8 not null,
    event text not null,
    table_name text,
    record_id text,
    operation text,
    old jsonb,
    new jsonb,
    reason text,
    actor text not null,
    login text not null default '',
    subject text,
    job_id bigint,
    detail jsonb,
    constraint audit_entry_is_numbered_once primary key (id),
    constraint audit_entry_event_is_a_word check (event ~ '^[a-z][a-z0-9_]*$'),
    constraint audit_entry_operation_is_a_word check (operation ~ '^[a-z][a-z0-9_]*$'),
    constraint audit_entry_actor_is_given check (actor <> ''),
    constraint audit_entry_time_has_a_four_digit_year check (at >= '0001-01-01 00:00Z' and at < '9999-12-31 00:00Z'),
    constraint audit_entry_is_under_16_mib check (
        coalesce(pg_column_size(old), 0) + coalesce(pg_column_size(new), 0) + coalesce(pg_column_size(detail), 0) < 16777216
    )
);

create index audit_entry_by_event on livewell_private.audit_entry (event, id);
create index audit_entry_by_actor on livewell_private.audit_entry (actor, id);
create index audit_entry_by_subject on livewell_private.audit_entry (subject, id) where subject is not null;
create index audit_entry_by_job on livewell_private.audit_entry (job_id, id) where job_id is not null;
create index audit_entry_by_record on livewell_private.audit_entry (table_name, record_id, id) where table_name is not null;
create index audit_entry_by_time on livewell_private.audit_entry using brin (at);

create table livewell_private.audit_seal (
    number bigint not null,
    sealed_at timestamptz not null,
    entries integer not null,
    members int8multirange not null,
    digests bytea[] not null,
    high_water bigint not null,
    open_ids int8multirange not null,
    ceiling xid8 not null,
    previous_hash bytea not null,
    hash bytea not null,
    constraint audit_seal_is_numbered_once primary key (number),
    constraint audit_seal_number_is_positive check (number > 0),
    constraint audit_seal_time_has_a_four_digit_year check (
        sealed_at >= '0001-01-01 00:00Z' and sealed_at < '9999-12-31 00:00Z'
    ),
    constraint audit_seal_has_a_digest_per_entry check (entries > 0 and entries = cardinality(digests)),
    constraint audit_seal_reaches_its_members check (high_water >= upper(members) - 1),
    constraint audit_seal_hashes_are_sha256 check (octet_length(previous_hash) = 32 and octet_length(hash) = 32),
    constraint audit_seal_follows_one_other unique (previous_hash)
);

create index audit_seal_by_members on livewell_private.audit_seal using gist (members);

-- Written by a sealer that has to draw a transaction id inside a transaction that has one already.
create table livewell_private.audit_ceiling (
    alone boolean not null default true,
    draws bigint not null default 0,
    constraint audit_ceiling_is_one_row primary key (alone),
    constraint audit_ceiling_is_alone check (alone)
) with (fillfactor = 10);

comment on table livewell_private.audit_entry is 'What was done, by whom, to what and why; append-only.';
comment on table livewell_private.audit_seal is 'The hash chain over the audit entries, a batch per link; append-only.';
comment on column livewell_private.audit_entry.login is 'The login that wrote it (session_user), beside the actor it named.';
comment on column livewell_private.audit_seal.digests is 'SHA-256 of each entry''s line, in the order of its members.';
comment on column livewell_private.audit_seal.open_ids is 'Ids up to the high-water mark not sealed yet whose transaction may still commit.';
comment on column livewell_private.audit_seal.ceiling is 'Whoever had drawn an id up to the high-water mark has a lower transaction id than this.';
