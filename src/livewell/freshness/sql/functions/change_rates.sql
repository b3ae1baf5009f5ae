-- How often the content of items changes, per minute, in the order given: as learned of the item, else of its type, else once in
-- a TTL.
-- for: internal
create or replace function livewell_private.change_rates(p_item_ids bigint[], p_ttl_minutes double precision[])
returns double precision[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return array(
        select greatest(coalesce(i.change_rate, y.change_rate, 1 / a.ttl_minutes), 0.001 / a.ttl_minutes)
        from unnest(p_item_ids, p_ttl_minutes) with ordinality as a (item_id, ttl_minutes, at)
        left join livewell_private.item as i on i.id = a.item_id
        left join livewell_private.type_learning as y on y.data_type = i.data_type
        order by a.at
    );
end $$;
