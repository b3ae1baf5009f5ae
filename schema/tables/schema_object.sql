-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.schema_object (
    kind text not null,
    name text not null,
    file_checksum text,
    fingerprint text not null,
    applied_at timestamp with time zone not null default clock_timestamp(),
    constraint schema_object_is_recorded_once PRIMARY KEY (kind, name)
);
