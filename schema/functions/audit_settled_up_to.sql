-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.audit_settled_up_to(p_horizon xid8)
 RETURNS bigint
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select coalesce((
        select s.high_water from livewell.audit_seal s where s.ceiling <= p_horizon order by s.number desc limit 1
    ), 0)
$function$;
