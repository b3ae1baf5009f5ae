-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- owner: livewell_reader
CREATE OR REPLACE FUNCTION livewell.run_foreign_task(p_query text, p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_result jsonb;
begin
    execute p_query into v_result using p_now;
    set constraints all immediate;
    return v_result;
end $function$;

grant execute on function livewell.run_foreign_task(text,timestamp with time zone) to livewell_owner;
