-- squawk-ignore-file ban-drop-type
-- What a batch of ended refreshes is made of, each part by its name: what was told of a refresh, what was found of it, and both.
drop type livewell_private.ended_fetch;
drop type livewell_private.fetch_verdict;
drop type livewell_private.judged_fetch;

-- As it was told: the fields are those of its JSON. Without an item where its job is not that item's refresh.
create type livewell_private.ended_fetch as (
    job bigint, token uuid, item bigint, type text, key text, outcome text, rows jsonb, many boolean, source_time timestamptz, hash text,
    etag text, last_modified text, reason text, message text, seconds double precision, status integer, bytes bigint, tokens integer,
    rate jsonb, sent boolean
);

-- What was found of it: its outcome once it was tried to be stored.
create type livewell_private.fetch_verdict as (job bigint, outcome text, reason text, message text);

create type livewell_private.judged_fetch as (told livewell_private.ended_fetch, found livewell_private.fetch_verdict);
