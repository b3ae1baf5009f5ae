-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_rescue(p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_batch constant integer := 500;
    v_rescued jsonb;
    v_healed integer;
    v_forgotten jsonb;
begin
    perform livewell.require_primary();
    select jsonb_agg(to_jsonb(r)) into v_rescued from livewell.rescue_jobs(v_batch, p_now) as r;
    v_healed := livewell.heal_serial_jobs();
    select jsonb_agg(w.id) into v_forgotten from livewell.retire_workers(null, interval '5 minutes', p_now) as w (id);
    return jsonb_build_object(
        'rescued', coalesce(v_rescued, '[]'), 'healed', v_healed, 'forgotten', coalesce(v_forgotten, '[]'),
        'again_in', case when jsonb_array_length(v_rescued) = v_batch then '0 seconds' end
    );
end $function$;

grant execute on function livewell.task_rescue(timestamp with time zone) to livewell_service;
