-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- owner: livewell_reader
CREATE OR REPLACE FUNCTION livewell.read_foreign_rows(p_query text, p_keys text[], p_most bigint, OUT keys text[], OUT stored jsonb[], OUT fetched_at timestamp with time zone[])
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_read boolean := false;
begin
    execute p_query into keys, stored, fetched_at using p_keys, p_most;
    v_read := true;
    raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
exception
    when others then
        if not v_read then
            raise;
        end if;
end $function$;

grant execute on function livewell.read_foreign_rows(text,text[],bigint) to livewell_owner;
