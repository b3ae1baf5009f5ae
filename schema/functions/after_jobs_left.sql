-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.after_jobs_left(p_serial_keys text[], p_ready_kinds text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_kinds text[] := p_ready_kinds;
begin
    if p_serial_keys is not null then
        v_kinds := v_kinds || livewell.promote_serial_jobs(p_serial_keys);
    end if;
    if v_kinds is not null then
        perform livewell.wake_workers(v_kinds);
    end if;
end $function$;
