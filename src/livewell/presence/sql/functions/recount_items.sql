-- Sets the viewers of items that had drifted to the number of users who look at them, and how many of these are uncounted; answers with
-- how many there were. What somebody else has in an open transaction waits for the next time.
-- for: internal
create or replace function livewell_private.recount_items(p_most integer, p_now timestamptz) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off as $$
declare
    v_items bigint[];
    v_busy bigint[];
    v_by integer[];
    v_uncounted integer[];
begin
    v_items := array(
        select i.id
        from livewell_private.item as i
        left join (
            select v.item_id, count(*) as viewers, count(*) filter (where not v.counted) as uncounted from livewell_private.viewer as v where v.sessions > 0 group by v.item_id
        ) as v on v.item_id = i.id
        where i.viewers <> coalesce(v.viewers, 0) or i.uncounted <> coalesce(v.uncounted, 0)
        order by i.id
        limit p_most
    );
    if v_items = '{}' then
        return 0;
    end if;
    v_busy := livewell_private.lock_items(v_items, p_now);
    select array_agg(d.id), array_agg(d.by), array_agg(d.uncounted) into v_items, v_by, v_uncounted
    from (
        select i.id, v.viewers - i.viewers as by, v.uncounted - i.uncounted as uncounted
        from livewell_private.item as i
        cross join lateral (
            select count(*)::integer as viewers, (count(*) filter (where not v.counted))::integer as uncounted
            from livewell_private.viewer as v where v.item_id = i.id and v.sessions > 0
        ) as v
        where i.id = any (v_items) and i.id <> all (v_busy)
    ) as d
    where d.by <> 0 or d.uncounted <> 0;
    if v_items is null then
        return 0;
    end if;
    perform livewell_private.change_viewers(v_items, v_by, p_now, v_uncounted);
    return cardinality(v_items);
end $$;
