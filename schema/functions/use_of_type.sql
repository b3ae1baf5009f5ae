-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.use_of_type(p_name text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select jsonb_build_object(
        'refreshes', (select count(*) from livewell.job_live as j where j.kind = 'refresh.' || p_name),
        'items', (select count(*) from livewell.item as i where i.data_type = p_name),
        'records', (select count(*) from livewell.record as r where r.data_type = p_name),
        'keys', (select count(*) from livewell.type_key as k where k.data_type = p_name)
    )
$function$;
