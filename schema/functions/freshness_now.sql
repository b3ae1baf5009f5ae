-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.freshness_now(p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(data_type text, items bigint, viewers bigint, within_ttl bigint, viewers_within_ttl bigint, missing bigint, oldest interval, refused bigint, failed bigint, reason text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return query
    select
        i.data_type, count(*), sum(i.viewers)::bigint, count(*) filter (where i.expires_at > p_now),
        coalesce(sum(i.viewers) filter (where i.expires_at > p_now), 0)::bigint, count(*) filter (where i.expires_at is null),
        max(p_now - i.fetched_at), count(*) filter (where i.last_outcome = 'refused'), count(*) filter (where i.last_outcome = 'failed'),
        (array_agg(i.last_reason order by i.last_outcome_at desc) filter (where i.last_outcome in ('refused', 'failed')))[1]
    from livewell.item as i
    where i.watched
    group by i.data_type
    order by i.data_type;
end $function$;

grant execute on function livewell.freshness_now(timestamp with time zone) to livewell_service;
