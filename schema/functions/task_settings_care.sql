-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_settings_care(p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select jsonb_build_object('unfit', coalesce(jsonb_agg(jsonb_build_object(
        'setting', s.name, 'problem', livewell.setting_problem(s, s.value)
    ) order by s.name), '[]'))
    from livewell.setting s
    where p_now is not null and livewell.setting_problem(s, s.value) is not null
$function$;

grant execute on function livewell.task_settings_care(timestamp with time zone) to livewell_service;
