-- Writes what starts now into the windows of some limits. Where a breaker is open its pause is over, and what starts are its trials:
-- it is half open from now on, and their outcome decides. The caller holds the locks and has found the headroom.
-- for: internal
create or replace function livewell_private.debit_limits(
    p_limits livewell_private.limit_headroom[], p_spending livewell_private.spending[], p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_second constant bigint := floor(extract(epoch from p_now));
    v_minute constant bigint := floor(extract(epoch from p_now) / 60);
    v_limit livewell_private.limit_headroom;
begin
    update livewell_private.limit_use as u
    set minute_slot = greatest(u.minute_slot, v_second), hour_slot = greatest(u.hour_slot, v_minute),
        minute_requests = livewell_private.ring_with(u.minute_requests, u.minute_slot, v_second, d.requests),
        minute_tokens = livewell_private.ring_with(u.minute_tokens, u.minute_slot, v_second, d.tokens),
        hour_requests = livewell_private.ring_with(u.hour_requests, u.hour_slot, v_minute, d.requests),
        hour_tokens = livewell_private.ring_with(u.hour_tokens, u.hour_slot, v_minute, d.tokens),
        smooth_at = case when d.spacing is null then u.smooth_at
            else greatest(u.smooth_at, p_now) + make_interval(secs => d.requests * d.spacing) end
    from (
        select l.name, l.spacing, sum(s.requests)::bigint as requests, sum(s.tokens)::bigint as tokens
        from unnest(p_limits) as l join unnest(p_spending) as s on l.name in (s.endpoint, s.provider, s.key_limit)
        group by l.name, l.spacing
    ) as d
    where u.name = d.name and d.requests > 0;
    foreach v_limit in array p_limits loop
        if v_limit.starts_trial and exists (
            select from unnest(p_spending) as s where v_limit.name in (s.endpoint, s.provider) and s.requests > 0
        ) then
            update livewell_private.limit_use as u set breaker = 'half_open', breaker_passed = 0 where u.name = v_limit.name;
            perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
                'event', 'breaker_half_opened', 'table_name', 'endpoint', 'record_id', v_limit.name, 'operation', 'update',
                'old', jsonb_build_object('breaker', 'open'), 'new', jsonb_build_object('breaker', 'half_open'), 'actor', 'livewell'
            )), p_now);
        end if;
    end loop;
end $$;
