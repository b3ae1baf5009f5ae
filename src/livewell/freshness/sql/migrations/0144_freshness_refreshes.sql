-- A refresh as it begins and as it ends: what is wanted of the queue, and what its item is told.
create type livewell.wanted_refresh as (item_id bigint, priority integer, cause text, asked_by text, never_stored boolean);

create type livewell.ended_refresh as (job_id bigint, item_id bigint, outcome text, reason text, hash bytea, bytes bigint);
