-- Whether a provider's quota lets new work be queued: what producers ask first. Scheduled and prefetch work (a priority
-- below zero) is told no earlier than work somebody waits for. A provider without a quota is always open.
-- for: service
create or replace function livewell.quota_open(
    p_provider text, p_priority integer default 0, p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_quota record;
begin
    select p.state, p.quota_bytes, q.room, q.low, q.used + q.in_flight < q.allowed as open into v_quota
    from livewell_private.provider as p left join lateral livewell_private.quota_rooms(
        array[p.name], livewell_private.flights(array[p.name], p_now), p_now
    ) as q on p.quota_bytes is not null
    where p.name = p_provider;
    if not found then
        raise exception using errcode = 'LWB04', message = format('unknown provider %s', coalesce(p_provider, '(none)')),
            hint = 'livewell providers list';
    end if;
    return v_quota.state = 'active'
        and (v_quota.quota_bytes is null or (v_quota.open and (p_priority >= 0 or not v_quota.low)));
end $$;
