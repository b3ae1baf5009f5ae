-- Which ids of one list are in another, by position. Two lists are joined here: a loop over both would cost their product.
-- for: internal
create or replace function livewell_private.are_among(p_ids uuid[], p_among uuid[]) returns boolean[]
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_nestloop = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    return array(
        select o.id is not null from unnest(p_ids) with ordinality as a (id, position)
        left join (select distinct o.id from unnest(p_among) as o (id)) as o on o.id = a.id
        order by a.position
    );
end $$;
