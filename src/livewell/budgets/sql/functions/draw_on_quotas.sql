-- Takes bytes from the even allowances of providers and keeps the sum of the hours before this one, so that a question reads two
-- rows and not seven hundred. Records when use passes 75, 90 or 100 percent of what is allowed, or falls below. The caller
-- holds the locks, and has read the quotas under them.
-- for: internal
create or replace function livewell_private.draw_on_quotas(
    p_quotas livewell_private.quota_headroom[], p_spending livewell_private.spending[], p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_quota livewell_private.quota_headroom;
    v_level integer;
begin
    -- One after the other, because they are few, mostly one.
    foreach v_quota in array p_quotas loop
        v_level := livewell_private.quota_level(v_quota.used, v_quota.allowed);
        update livewell_private.quota_use as q
        set counted_hour = date_trunc('hour', p_now, 'UTC'), counted_bytes = v_quota.counted,
            bucket_bytes = v_quota.bucket - (
                select coalesce(sum(s.bytes), 0) from unnest(p_spending) as s where s.provider = v_quota.provider
            ),
            bucket_at = greatest(p_now, nullif(q.bucket_at, '-infinity')), returned_seen = v_quota.returned, level = v_level
        where q.provider = v_quota.provider;
        if v_level <> v_quota.level then
            perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
                'event', 'quota_level_changed', 'table_name', 'provider', 'record_id', v_quota.provider, 'operation', 'update',
                'old', jsonb_build_object('level', v_quota.level),
                'new', jsonb_build_object('level', v_level, 'used', v_quota.used, 'allowed', v_quota.allowed), 'actor', 'livewell'
            )), p_now);
        end if;
    end loop;
end $$;
