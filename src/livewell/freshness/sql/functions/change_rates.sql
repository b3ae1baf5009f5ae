-- How often the content of items changes, per minute, in the order given: the share of their fetches that had changed over the
-- time between them, begun with two fetches as their type's, and that with two as if 63 percent changed in a TTL.
-- for: internal
create or replace function livewell.change_rates(p_item_ids bigint[], p_ttl_minutes double precision[])
returns double precision[]
language plpgsql stable security definer
set search_path = '' as $$
begin
    return array(
        select greatest(
            -ln(1 - least(0.98, (i.changes + 2 * f.changed) / (i.fetches + 2.5)))
            / ((i.minutes_between + 2 * f.minutes) / (i.fetches + 2)), 0.001 / a.ttl_minutes
        )
        from unnest(p_item_ids, p_ttl_minutes) with ordinality as a (item_id, ttl_minutes, at)
        left join livewell.item as i on i.id = a.item_id
        left join livewell.type_learning as y on y.data_type = i.data_type
        cross join lateral (
            select (coalesce(y.changes, 0) + 1.26) / (coalesce(y.fetches, 0) + 2) as changed,
                (coalesce(y.minutes_between, 0) + 2 * a.ttl_minutes) / (coalesce(y.fetches, 0) + 2) as minutes
        ) as f
        order by a.at
    );
end $$;
