-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_job_partitions(p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_made jsonb;
begin
    perform livewell.require_primary();
    select jsonb_agg(p.name) into v_made from livewell.make_job_partitions(7, p_now) as p (name);
    return jsonb_build_object('made', coalesce(v_made, '[]'), 'stray', livewell.stray_jobs());
end $function$;

grant execute on function livewell.task_job_partitions(timestamp with time zone) to livewell_service;
