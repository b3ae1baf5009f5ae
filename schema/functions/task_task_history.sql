-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_task_history(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_batch constant integer := 5000;
    v_gone integer;
begin
    delete from livewell.task_run as r
    where r.id = any (array(
        select o.id from livewell.task_run as o
        where o.ended_at < p_now - livewell.setting_interval('schedule.history_retention')
        order by o.ended_at
        limit v_batch
    ));
    get diagnostics v_gone = row_count;
    return jsonb_build_object('forgotten', v_gone, 'again_in', case when v_gone = v_batch then '0 seconds' end);
end $function$;
