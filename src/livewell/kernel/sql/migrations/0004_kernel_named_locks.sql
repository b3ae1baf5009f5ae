-- What only one may do at a time, a row each. Advisory locks would do, if any login could not take any of their keys: rows of a
-- private table are locked only through functions of ours.
create table livewell_private.named_lock (
    name text not null,
    constraint named_lock_pkey primary key (name)
);
insert into livewell_private.named_lock (name)
values ('audit_seal'), ('budgets'), ('calendars'), ('exchange_rules'), ('registry'), ('tasks');
