-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.draw_on_quotas(p_providers text[], p_bytes bigint[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_changes jsonb;
begin
    with drawn as (
        update livewell.quota_use as q
        set counted_hour = date_trunc('hour', p_now, 'UTC'), counted_bytes = r.counted, bucket_bytes = r.bucket - r.bytes,
            bucket_at = greatest(p_now, nullif(q.bucket_at, '-infinity')), returned_seen = r.returned, level = r.level
        from (
            select r.*, d.bytes, o.level as old_level, livewell.quota_level(r.used, r.allowed) as level
            from unnest(p_providers, p_bytes) as d (provider, bytes)
            join livewell.quota_rooms(p_providers, null, p_now) as r on r.provider = d.provider
            join livewell.quota_use as o on o.provider = d.provider
        ) as r
        where q.provider = r.provider
        returning r.provider, r.used, r.allowed, r.old_level, r.level
    )
    select jsonb_agg(jsonb_build_object(
        'event', 'quota_level_changed', 'table_name', 'provider', 'record_id', d.provider, 'operation', 'update',
        'old', jsonb_build_object('level', d.old_level),
        'new', jsonb_build_object('level', d.level, 'used', d.used, 'allowed', d.allowed), 'actor', 'livewell'
    ))
    into v_changes
    from drawn as d where d.level <> d.old_level;
    if v_changes is not null then
        perform livewell.audit_write(v_changes, p_now);
    end if;
end $function$;
