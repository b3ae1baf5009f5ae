-- Whether a provider's quota lets new work be queued: what producers ask first. Scheduled and prefetch work (a priority
-- below zero) is told no earlier than work somebody waits for. A provider without a quota is always open.
-- for: service
create or replace function livewell.quota_open(
    p_provider text, p_priority integer default 0, p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_provider record;
    v_quota livewell_private.quota_headroom;
begin
    select p.state, p.quota_bytes into v_provider from livewell.providers as p where p.name = p_provider;
    if not found then
        raise exception using errcode = 'LWB04', message = format('unknown provider %s', coalesce(p_provider, '(none)')),
            hint = 'livewell providers list';
    end if;
    if v_provider.state <> 'active' or v_provider.quota_bytes is null then
        return v_provider.state = 'active';
    end if;
    v_quota := (livewell_private.quotas_now(
        array[p_provider], livewell_private.permits_in_flight(array[p_provider], p_now) || livewell_private.jobs_in_flight(array[p_provider]), p_now
    ))[1];
    return v_quota.used + v_quota.in_flight < v_quota.allowed and (p_priority >= 0 or not v_quota.is_low);
end $$;
