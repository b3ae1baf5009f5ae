-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.quota_rooms(p_providers text[], p_flights livewell.flight[], p_now timestamp with time zone)
 RETURNS TABLE(provider text, allowed bigint, used bigint, in_flight bigint, counted bigint, bucket double precision, returned bigint, room bigint, low boolean)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
#variable_conflict use_column
declare
    v_hour constant timestamptz := date_trunc('hour', p_now, 'UTC');
    v_low_share constant double precision := livewell.setting_number('quota.low_share');
begin
    return query
    select
        p.name, a.allowed, u.counted + u.this_hour, f.in_flight, u.counted, b.bucket, u.returned,
        greatest(0, least(
            a.allowed - u.counted - u.this_hour - f.in_flight, case when p.pace = 'even' then floor(b.bucket) end
        ))::bigint,
        u.counted + u.this_hour + f.in_flight >= v_low_share * a.allowed
    from livewell.provider as p
    join livewell.quota_use as q on q.provider = p.name
    cross join lateral (
        select floor(p.quota_bytes * p.quota_use)::bigint as allowed, extract(epoch from p.quota_window)::double precision as seconds,
            extract(epoch from p.pace_bucket)::double precision as bucket_seconds
    ) as a
    cross join lateral (
        select
            case when q.counted_hour = v_hour then q.counted_bytes else coalesce((
                select sum(h.bytes) from livewell.quota_hour as h
                where h.provider = p.name and h.hour >= v_hour - p.quota_window and h.hour < v_hour
            ), 0)::bigint end as counted,
            coalesce(h.bytes, 0) as this_hour, coalesce(h.returned, 0) as returned
        from (select) as one left join livewell.quota_hour as h on h.provider = p.name and h.hour = v_hour
    ) as u
    cross join lateral (
        select coalesce(sum(f.bytes), 0)::bigint as in_flight from unnest(p_flights) as f where f.provider = p.name
    ) as f
    -- The bucket and what flows into it over one window are together what is allowed in one.
    cross join lateral (
        select case when q.bucket_at = '-infinity' then a.allowed * a.bucket_seconds / a.seconds else least(
            a.allowed * a.bucket_seconds / a.seconds,
            q.bucket_bytes - q.returned_seen + case when date_trunc('hour', q.bucket_at, 'UTC') = v_hour then u.returned else (
                select coalesce(sum(h.returned), 0) from livewell.quota_hour as h
                where h.provider = p.name and h.hour >= date_trunc('hour', q.bucket_at, 'UTC')
            ) end
            + extract(epoch from greatest(p_now, q.bucket_at) - q.bucket_at) * a.allowed * (1 - a.bucket_seconds / a.seconds)
                / a.seconds
        ) end as bucket
    ) as b
    where p.name = any (p_providers) and p.quota_bytes is not null;
end $function$;
