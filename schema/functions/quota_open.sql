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
    v_quota record;
begin
    select p.state, p.quota_bytes, q.room, q.low, q.used + q.in_flight < q.allowed as open into v_quota
    from livewell.provider as p left join lateral livewell.quota_rooms(
        array[p.name], livewell.flights(array[p.name], p_now), p_now
    ) as q on p.quota_bytes is not null
    where p.name = p_provider;
    if not found then
        raise exception using errcode = 'LWB04', message = format('unknown provider %s', coalesce(p_provider, '(none)')),
            hint = 'livewell providers list';
    end if;
    return v_quota.state = 'active'
        and (v_quota.quota_bytes is null or (v_quota.open and (p_priority >= 0 or not v_quota.low)));
end $function$;

grant execute on function livewell.quota_open(text,integer,timestamp with time zone) to livewell_service;
