-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- owner: livewell_writer
CREATE OR REPLACE FUNCTION livewell.lock_foreign_rows(p_query text, p_keys text[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
begin
    execute p_query using p_keys;
end $function$;

grant execute on function livewell.lock_foreign_rows(text,text[]) to livewell_owner;
