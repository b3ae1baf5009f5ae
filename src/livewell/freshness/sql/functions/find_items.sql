-- The items of types and keys, by position; null where there is none: nobody has looked at such a key yet.
-- for: service
create or replace function livewell.find_items(p_types text[], p_keys text[]) returns bigint[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    return array(
        select i.id from unnest(p_types, p_keys) with ordinality as a (data_type, key, at)
        left join livewell_private.item as i on i.data_type = a.data_type and i.key = a.key
        order by a.at
    );
end $$;
