-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- owner: livewell_reader
CREATE OR REPLACE FUNCTION livewell.ask_foreign(p_query text, p_asked jsonb, p_keys text[] DEFAULT NULL::text[])
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_answer jsonb;
    v_read boolean := false;
begin
    execute p_query into v_answer using p_asked, p_keys;
    v_read := true;
    raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
exception
    when others then
        if not v_read then
            raise;
        end if;
        return v_answer;
end $function$;

grant execute on function livewell.ask_foreign(text,jsonb,text[]) to livewell_owner;
