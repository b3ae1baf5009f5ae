-- What the last answers of items were marked with, for conditional requests; items without marks are left out.
-- for: service
create or replace function livewell.fetch_conditions(p_item_ids bigint[])
returns table (item_id bigint, etag text, last_modified text)
language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
    select s.item_id, s.etag, s.last_modified from livewell_private.fetch_state as s where s.item_id = any (p_item_ids)
$$;
