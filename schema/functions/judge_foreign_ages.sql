-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- owner: livewell_reader
CREATE OR REPLACE FUNCTION livewell.judge_foreign_ages(p_query text, p_newest timestamp with time zone[], p_ttls interval[], p_now timestamp with time zone)
 RETURNS boolean[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_stale boolean[];
    v_read boolean := false;
begin
    execute p_query into v_stale using p_newest, p_ttls, p_now;
    v_read := true;
    raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
exception
    when others then
        if not v_read then
            raise;
        end if;
        return v_stale;
end $function$;

grant execute on function livewell.judge_foreign_ages(text,timestamp with time zone[],interval[],timestamp with time zone) to livewell_owner;
