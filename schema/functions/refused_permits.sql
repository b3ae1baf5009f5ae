-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refused_permits(p_limits livewell.limit_headroom[], p_reason text, p_now timestamp with time zone, OUT reason text, OUT retry_seconds double precision)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_opens_at timestamptz;
begin
    select max(l.reason) filter (where l.requests = 0 and l.kind <> 'keys'),
        coalesce(max(l.opens_at) filter (where l.kind <> 'keys'), min(l.opens_at) filter (where l.kind = 'keys'))
    into reason, v_opens_at
    from unnest(p_limits) as l;
    reason := coalesce(p_reason, reason, 'requests');
    retry_seconds := case reason
        when 'concurrent' then null
        when 'tokens' then 1
        when 'bytes' then 5
        when 'disabled' then 5
        when 'maintenance' then 5
        else coalesce(case when v_opens_at > p_now then extract(epoch from v_opens_at - p_now) end, 1)
    end;
end $function$;
