-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.unwatched_refreshes(p_most integer, p_now timestamp with time zone)
 RETURNS bigint[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
begin
    return array(
        select i.id
        from livewell.job_lane as l
        cross join lateral (
            select i.id from livewell.job_live as j
            join livewell.item as i on i.data_type = j.payload ->> 'type' and i.key = j.payload ->> 'key'
            where j.lane_id = l.id and j.state = 'pending' and j.waiting_for is null and (j.priority > 0 or j.priority = 0 and j.failures = 0)
                and j.created_at < p_now - interval '1 minute'
                and j.payload ->> 'cause' in ('missing', 'stale', 'subscribe', 'scheduled', 'prefetch', 'probe')
                and j.dedupe_key = 'refresh/' || i.data_type || '/' || i.key and not i.watched
            order by j.priority desc, j.due_at, j.id
            limit p_most
        ) as i
        where l.kind like 'refresh.%'
        limit p_most
    );
end $function$;
