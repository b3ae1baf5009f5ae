-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.migration (
    number integer not null,
    name text not null,
    checksum text not null,
    applied_at timestamp with time zone not null default clock_timestamp(),
    constraint migration_is_applied_once PRIMARY KEY (number)
);
