-- Takes bytes from the even allowances of providers and keeps the sum of the hours before this
-- one, so that a question reads two rows and not seven hundred. Records when use passes 75, 90 or 100 percent of what is
-- allowed, or falls below. The caller holds the locks, and has read the rooms under them.
-- for: internal
create or replace function livewell_private.draw_on_quotas(p_rooms livewell_private.budget_rooms, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_hour constant timestamptz := date_trunc('hour', p_now, 'UTC');
    v_levels integer[];
    v_level integer;
begin
    -- One after the other, because they are few, mostly one.
    for v_at in 1..cardinality(p_rooms.providers) loop
        v_level := livewell_private.quota_level(p_rooms.used[v_at], p_rooms.allowed[v_at]);
        v_levels := v_levels || v_level;
        update livewell_private.quota_use as q
        set counted_hour = v_hour, counted_bytes = p_rooms.counted[v_at],
            bucket_bytes = p_rooms.buckets[v_at] - p_rooms.spent_bytes[v_at],
            bucket_at = greatest(p_now, nullif(q.bucket_at, '-infinity')), returned_seen = p_rooms.returned[v_at], level = v_level
        where q.provider = p_rooms.providers[v_at];
    end loop;
    if v_levels <> p_rooms.levels then
        perform livewell.audit_write(jsonb_agg(jsonb_build_object(
            'event', 'quota_level_changed', 'table_name', 'provider', 'record_id', d.provider, 'operation', 'update',
            'old', jsonb_build_object('level', d.old_level),
            'new', jsonb_build_object('level', d.level, 'used', d.used, 'allowed', d.allowed), 'actor', 'livewell'
        )), p_now)
        from unnest(p_rooms.providers, p_rooms.levels, v_levels, p_rooms.used, p_rooms.allowed)
            as d (provider, old_level, level, used, allowed)
        where d.level <> d.old_level;
    end if;
end $$;
