-- How many bytes may start now at providers with a quota, by the ledger of their rolling window, what is in flight, and the
-- even allowance; and whether so much is used that only work somebody waits for may start. The oldest hour counts whole.
-- for: internal
create or replace function livewell_private.quota_rooms(p_providers text[], p_flights livewell_private.flight[], p_now timestamptz)
returns table (
    provider text, allowed bigint, used bigint, in_flight bigint, counted bigint, bucket double precision, returned bigint, room bigint,
    low boolean, level integer
)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_hour constant timestamptz := date_trunc('hour', p_now, 'UTC');
    v_low_share constant double precision := livewell.setting_number('quota.low_share');
    v_quota record;
    v_bucket_share double precision;
    v_returned bigint;
begin
    for v_quota in
        select
            p.name, p.pace, p.quota_window, floor(p.quota_bytes * p.quota_use)::bigint as allowed,
            extract(epoch from p.quota_window)::double precision as seconds,
            extract(epoch from p.pace_bucket)::double precision as bucket_seconds, q.counted_hour, q.counted_bytes,
            q.bucket_bytes, q.bucket_at, q.returned_seen, q.level, coalesce(h.bytes, 0) as this_hour,
            coalesce(h.returned, 0) as returned,
            (select coalesce(sum(f.bytes), 0)::bigint from unnest(p_flights) as f where f.provider = p.name) as in_flight
        from livewell_private.provider as p
        join livewell_private.quota_use as q on q.provider = p.name
        left join livewell_private.quota_hour as h on h.provider = p.name and h.hour = v_hour
        where p.name = any (p_providers) and p.quota_bytes is not null
    loop
        provider := v_quota.name;
        allowed := v_quota.allowed;
        in_flight := v_quota.in_flight;
        returned := v_quota.returned;
        level := v_quota.level;
        counted := v_quota.counted_bytes;
        if v_quota.counted_hour <> v_hour then
            select coalesce(sum(h.bytes), 0) into counted from livewell_private.quota_hour as h
            where h.provider = v_quota.name and h.hour >= v_hour - v_quota.quota_window and h.hour < v_hour;
        end if;
        used := counted + v_quota.this_hour;
        low := used + in_flight >= v_low_share * allowed;
        -- The bucket and what flows into it over one window are together what is allowed in one.
        v_bucket_share := v_quota.bucket_seconds / v_quota.seconds;
        bucket := allowed * v_bucket_share;
        if v_quota.bucket_at <> '-infinity' then
            v_returned := returned;
            if date_trunc('hour', v_quota.bucket_at, 'UTC') <> v_hour then
                select coalesce(sum(h.returned), 0) into v_returned from livewell_private.quota_hour as h
                where h.provider = v_quota.name and h.hour >= date_trunc('hour', v_quota.bucket_at, 'UTC');
            end if;
            bucket := least(
                bucket,
                v_quota.bucket_bytes - v_quota.returned_seen + v_returned
                + extract(epoch from greatest(p_now, v_quota.bucket_at) - v_quota.bucket_at) * allowed * (1 - v_bucket_share)
                    / v_quota.seconds
            );
        end if;
        room := greatest(0, least(allowed - used - in_flight, case when v_quota.pace = 'even' then floor(bucket) end));
        return next;
    end loop;
end $$;
