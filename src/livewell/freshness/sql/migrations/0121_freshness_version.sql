-- What the content of an item is known by: greater with every change, and near the microseconds of the database's clock, so that it is not
-- used again after a backup was put back. 0: nothing was stored yet.
alter table livewell_private.item add column version bigint not null default 0;
