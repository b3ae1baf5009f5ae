-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- owner: livewell_writer
CREATE OR REPLACE FUNCTION livewell.touch_foreign_rows(p_query text, p_now timestamp with time zone, p_keys text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_touched text[];
begin
    execute p_query into v_touched using p_now, p_keys;
    set constraints all immediate;
    return v_touched;
end $function$;

grant execute on function livewell.touch_foreign_rows(text,timestamp with time zone,text[]) to livewell_owner;
