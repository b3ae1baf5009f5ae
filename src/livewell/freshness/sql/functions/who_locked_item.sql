-- Who was seen last to keep an item from us, in an open transaction; without a number, one that somebody is adding.
-- for: internal
create or replace function livewell_private.who_locked_item(p_item_id bigint) returns text
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select livewell_private.who_locked('livewell_private.item', coalesce(p_item_id, -1)::text)
$$;
