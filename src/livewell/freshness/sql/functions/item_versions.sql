-- What the content of items is known by and when it was fetched, by position; null where there is no such item.
-- for: internal
create or replace function livewell_private.item_versions(p_items bigint[], out versions bigint[], out fetched_at timestamptz[])
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    select coalesce(array_agg(i.version order by a.at), '{}'), coalesce(array_agg(i.fetched_at order by a.at), '{}')
    into versions, fetched_at
    from unnest(p_items) with ordinality as a (item_id, at) left join livewell_private.item as i on i.id = a.item_id;
end $$;
