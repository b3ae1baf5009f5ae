-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.audit_seal (
    number bigint not null,
    sealed_at timestamp with time zone not null,
    entries integer not null,
    members int8multirange not null,
    digests bytea[] not null,
    high_water bigint not null,
    open_ids int8multirange not null,
    ceiling xid8 not null,
    previous_hash bytea not null,
    hash bytea not null,
    constraint audit_seal_follows_one_other UNIQUE (previous_hash),
    constraint audit_seal_has_a_digest_per_entry CHECK (((entries > 0) AND (entries = cardinality(digests)))),
    constraint audit_seal_hashes_are_sha256 CHECK (((octet_length(previous_hash) = 32) AND (octet_length(hash) = 32))),
    constraint audit_seal_is_numbered_once PRIMARY KEY (number),
    constraint audit_seal_number_is_positive CHECK ((number > 0)),
    constraint audit_seal_reaches_its_members CHECK ((high_water >= (upper(members) - 1))),
    constraint audit_seal_time_has_a_four_digit_year CHECK (((sealed_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (sealed_at < '9999-12-31 00:00:00+00'::timestamp with time zone)))
);

CREATE INDEX audit_seal_by_members ON livewell_private.audit_seal USING gist (members);
