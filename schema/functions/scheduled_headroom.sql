-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.scheduled_headroom(p_type text, p_now timestamp with time zone)
 RETURNS TABLE(data_type text, endpoint text, refreshes integer)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
    v_depth constant integer := livewell.setting_integer('freshness.scheduled_depth');
begin
    return query
    select w.data_type, t.endpoint, r.refreshes
    from livewell.scheduled_walk as w
    join livewell.data_type as t on t.name = w.data_type
    join livewell.refresh_headroom(array(
        select t.endpoint from livewell.scheduled_walk as w join livewell.data_type as t on t.name = w.data_type
        where w.begun_at is not null and (p_type is null or w.data_type = p_type)
    ), -1, p_now) as h on h.endpoint = t.endpoint and h.is_active and h.quota_is_open
    cross join lateral (
        select least(h.depth, v_depth - count(*))::integer as refreshes
        from (
            select from livewell.job_live as j
            where j.endpoint = t.endpoint and j.state = 'pending' and j.priority < 0
            limit v_depth
        ) as j
    ) as r
    where w.begun_at is not null and (p_type is null or w.data_type = p_type) and r.refreshes > 0
    order by w.sliced_at nulls first, w.data_type;
end $function$;
