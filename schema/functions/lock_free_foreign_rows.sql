-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- owner: livewell_writer
CREATE OR REPLACE FUNCTION livewell.lock_free_foreign_rows(p_locking text, p_reading text, p_keys text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_free tid[];
    v_busy text[];
begin
    execute p_locking into v_free using p_keys;
    execute p_reading into v_busy using p_keys, v_free;
    return v_busy;
end $function$;

grant execute on function livewell.lock_free_foreign_rows(text,text,text[]) to livewell_owner;
