-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.audit_ceiling (
    alone boolean not null default true,
    draws bigint not null default 0,
    constraint audit_ceiling_is_alone CHECK (alone),
    constraint audit_ceiling_is_one_row PRIMARY KEY (alone)
) with (fillfactor=10);
