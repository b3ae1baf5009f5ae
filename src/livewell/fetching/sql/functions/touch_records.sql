-- Moves the time of records, locked in the order of their keys, and answers with the keys that have one.
-- for: internal
create or replace function livewell_private.touch_records(p_type text, p_keys text[], p_now timestamptz) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_touched text[];
begin
    perform from (select k.key from unnest(p_keys) as k (key) order by k.key) as k
    cross join lateral (select from livewell_private.record as r where r.data_type = p_type and r.key = k.key for update) as r;
    with touched as (
        update livewell_private.record as r set fetched_at = p_now
        from unnest(p_keys) as k (key)
        where r.data_type = p_type and r.key = k.key
        returning r.key
    )
    select array_agg(t.key) into v_touched from touched as t;
    return coalesce(v_touched, '{}');
end $$;
