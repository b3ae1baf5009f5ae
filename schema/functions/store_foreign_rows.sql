-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- owner: livewell_writer
CREATE OR REPLACE FUNCTION livewell.store_foreign_rows(p_query text, p_now timestamp with time zone, p_jobs bigint[], p_keys text[], p_rows jsonb[], p_source_times timestamp with time zone[], OUT jobs bigint[], OUT reasons text[])
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET jit TO 'off'
AS $function$
begin
    execute p_query into jobs, reasons using p_now, p_jobs, p_keys, p_rows, p_source_times;
    set constraints all immediate;
end $function$;

grant execute on function livewell.store_foreign_rows(text,timestamp with time zone,bigint[],text[],jsonb[],timestamp with time zone[]) to livewell_owner;
