-- The last few outcomes of each item, newest first: what stays on record of a refresh when its job is dropped. Apart from `item`,
-- which is written more often, and in one row, so that a refresh writes one row and no index.
create type livewell_private.refresh_outcome as (
    job_id bigint, worker text, started_at timestamptz, finished_at timestamptz, outcome text, reason text
);
create table livewell_private.item_outcomes (
    item_id bigint not null,
    outcomes livewell_private.refresh_outcome[] not null,
    constraint item_outcomes_pkey primary key (item_id),
    constraint item_outcomes_have_an_item foreign key (item_id) references livewell_private.item (id) on delete cascade
) with (fillfactor = 50);

-- How many refreshes of a type were completed, ever: finished jobs are dropped, and nobody counts them.
alter table livewell_private.learned add column refreshes integer not null default 0;
alter table livewell_private.type_learning add column refreshes double precision not null default 0;
