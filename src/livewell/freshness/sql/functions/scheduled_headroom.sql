-- The types whose walk is under way and may go on, the one that waited longest first, with how many refreshes more their
-- endpoint takes: fewer than `freshness.scheduled_depth` wait there, it is open, and the quota is not low. A null type: all.
-- for: internal
create or replace function livewell_private.scheduled_headroom(p_type text, p_now timestamptz)
returns table (data_type text, endpoint text, refreshes integer)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_depth constant integer := livewell.setting_integer('freshness.scheduled_depth');
begin
    return query
    select w.data_type, t.endpoint, r.refreshes
    from livewell_private.scheduled_walk as w
    join livewell_private.known_types as t on t.name = w.data_type
    join livewell_private.refresh_headroom(array(
        select t.endpoint from livewell_private.scheduled_walk as w join livewell_private.known_types as t on t.name = w.data_type
        where w.begun_at is not null and (p_type is null or w.data_type = p_type)
    ), -1, p_now) as h on h.endpoint = t.endpoint and h.is_active and h.quota_is_open
    cross join lateral (
        select least(h.depth, v_depth - count(*))::integer as refreshes
        from (
            select from livewell_private.job_live as j
            where j.endpoint = t.endpoint and j.state = 'pending' and j.priority < 0
            limit v_depth
        ) as j
    ) as r
    where w.begun_at is not null and (p_type is null or w.data_type = p_type) and r.refreshes > 0
    order by w.sliced_at nulls first, w.data_type;
end $$;
