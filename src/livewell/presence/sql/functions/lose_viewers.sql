-- Counts ended subscriptions by item and user, taken in that order, and says of which items there are how many viewers fewer:
-- one when a user's last session leaves, and how many of them were uncounted. The insert only carries the order: every row is there, and stays at zero until the
-- recount.
-- for: internal
create or replace function livewell_private.lose_viewers(
    p_item_ids bigint[], p_users text[], out items bigint[], out changes integer[], out uncounted integer[]
)
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    with counted as (
        insert into livewell_private.viewer as v (item_id, user_id, sessions)
        select a.item_id, a.user_id, a.sessions
        from (
            select a.item_id, a.user_id, count(*)::integer as sessions
            from unnest(p_item_ids, p_users) as a (item_id, user_id)
            group by a.item_id, a.user_id
        ) as a
        order by a.item_id, a.user_id
        on conflict (item_id, user_id) do update set sessions = greatest(0, v.sessions - excluded.sessions)
        returning v.item_id, v.sessions, v.counted
    )
    select array_agg(f.item_id), array_agg(f.by), array_agg(f.uncounted) into items, changes, uncounted
    from (
        select c.item_id, -count(*)::integer as by, -(count(*) filter (where not c.counted))::integer as uncounted
        from counted as c where c.sessions = 0 group by c.item_id
    ) as f;
end $$;
