-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.audit_head(p_number bigint)
 RETURNS TABLE(number bigint, hash bytea)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select s.number, s.hash from livewell.audit_seal s where s.number = p_number
    union all
    select 0, decode(repeat('00', 32), 'hex') where p_number = 0
$function$;

grant execute on function livewell.audit_head(bigint) to livewell_service;
