-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.learned_limit(p_known integer, p_seen double precision, p_grows boolean)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select case
        when p_known is null or p_seen <= p_known then p_seen
        when p_grows then least(p_seen, p_known + greatest(1, p_known / 10))
        else p_known
    end::integer
$function$;
