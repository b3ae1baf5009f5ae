-- How many bytes may start now at providers with a quota, by the ledger of their rolling window, what is in flight, and the
-- even allowance; and whether so much is used that only work somebody waits for may start. The oldest hour counts whole.
-- for: internal
create or replace function livewell_private.quotas_now(
    p_providers text[], p_in_flight livewell_private.endpoint_calls[], p_now timestamptz
) returns livewell_private.quota_headroom[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_hour constant timestamptz := date_trunc('hour', p_now, 'UTC');
    v_low_share constant double precision := livewell.setting_number('quota.low_share');
begin
    return (
        with counted as materialized (
            select p.name as provider, p.pace, floor(p.quota_bytes * p.quota_use)::bigint as allowed,
                extract(epoch from p.quota_window)::double precision as seconds,
                extract(epoch from p.pace_bucket)::double precision / extract(epoch from p.quota_window)::double precision as bucket_share,
                q.level, q.bucket_at, q.bucket_bytes - q.returned_seen as bucket_bytes, coalesce(h.bytes, 0) as this_hour,
                coalesce(h.returned, 0) as returned,
                case when q.counted_hour = v_hour then q.counted_bytes else coalesce((
                    select sum(o.bytes) from livewell_private.quota_hour as o
                    where o.provider = p.name and o.hour >= v_hour - p.quota_window and o.hour < v_hour
                ), 0)::bigint end as counted,
                case when date_trunc('hour', q.bucket_at, 'UTC') = v_hour then coalesce(h.returned, 0) else (
                    select coalesce(sum(o.returned), 0)::bigint from livewell_private.quota_hour as o
                    where o.provider = p.name and o.hour >= date_trunc('hour', q.bucket_at, 'UTC')
                ) end as returned_since,
                (select coalesce(sum(i.bytes), 0)::bigint from unnest(p_in_flight) as i where i.provider = p.name) as in_flight
            from livewell_private.provider as p
            join livewell_private.quota_use as q on q.provider = p.name
            left join livewell_private.quota_hour as h on h.provider = p.name and h.hour = v_hour
            where p.name = any (p_providers) and p.quota_bytes is not null
        )
        select array_agg(h::livewell_private.quota_headroom)
        from (
            select c.provider,
                greatest(0, least(c.allowed - u.used - c.in_flight, case when c.pace = 'even' then floor(b.bucket) end))::bigint as bytes,
                u.used + c.in_flight >= v_low_share * c.allowed as is_low, c.allowed, u.used, c.in_flight, c.counted, b.bucket,
                c.returned, c.level
            from counted as c
            cross join lateral (select c.counted + c.this_hour as used) as u
            -- The bucket and what flows into it over one window are together what is allowed in one.
            cross join lateral (
                select least(c.allowed * c.bucket_share, case when c.bucket_at <> '-infinity' then
                    c.bucket_bytes + c.returned_since
                    + extract(epoch from greatest(p_now, c.bucket_at) - c.bucket_at) * c.allowed * (1 - c.bucket_share) / c.seconds
                end) as bucket
            ) as b
        ) as h
    );
end $$;
