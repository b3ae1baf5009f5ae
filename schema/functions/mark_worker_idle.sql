-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.mark_worker_idle(p_worker text, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS double precision
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET synchronous_commit TO 'off'
AS $function$
begin
    perform livewell.require_primary();
    update livewell.worker as w set idle = true, last_seen = p_now where w.id = p_worker;
    return (
        select extract(epoch from j.due_at - p_now) from livewell.job_live as j where j.held = 'due' order by j.due_at limit 1
    );
end $function$;

grant execute on function livewell.mark_worker_idle(text,timestamp with time zone) to livewell_service;
