-- Written by a sealer that has to draw a transaction id inside a transaction that has one already.
create table livewell_private.audit_ceiling (
    alone boolean not null default true,
    draws bigint not null default 0,
    constraint audit_ceiling_is_one_row primary key (alone),
    constraint audit_ceiling_is_alone check (alone)
) with (fillfactor = 10);
