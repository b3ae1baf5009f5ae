-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.shown_state(p_state text, p_attempt integer, p_due_at timestamp with time zone, p_now timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select case
        when p_state <> 'pending' then p_state
        when p_attempt > 0 then 'retrying'
        when p_due_at > p_now then 'deferred'
        else 'pending'
    end
$function$;

grant execute on function livewell.shown_state(text,integer,timestamp with time zone,timestamp with time zone) to livewell_service;
