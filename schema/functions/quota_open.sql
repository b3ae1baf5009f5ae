-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.quota_open(p_provider text, p_priority integer DEFAULT 0, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_provider record;
    v_quota livewell.quota_headroom;
begin
    select p.state, p.quota_bytes into v_provider from livewell.provider as p where p.name = p_provider;
    if not found then
        raise exception using errcode = 'LWB04', message = format('unknown provider %s', coalesce(p_provider, '(none)')),
            hint = 'livewell providers list';
    end if;
    if v_provider.state <> 'active' or v_provider.quota_bytes is null then
        return v_provider.state = 'active';
    end if;
    v_quota := (livewell.quotas_now(
        array[p_provider], livewell.permits_in_flight(array[p_provider], p_now) || livewell.jobs_in_flight(array[p_provider]), p_now
    ))[1];
    return v_quota.used + v_quota.in_flight < v_quota.allowed and (p_priority >= 0 or not v_quota.is_low);
end $function$;

grant execute on function livewell.quota_open(text,integer,timestamp with time zone) to livewell_service;
