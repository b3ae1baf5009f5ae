-- Whether only keys of a type's catalogue may be looked at.
alter table livewell_private.data_type add column keys_only_known boolean not null default false;
