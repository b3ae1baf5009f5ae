-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.list_keys(p_type text, p_after text DEFAULT NULL::text, p_limit integer DEFAULT 100)
 RETURNS TABLE(key text, active boolean, exchange text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_type livewell.data_type;
begin
    perform livewell.require_type(p_type);
    select t.* into strict v_type from livewell.data_type as t where t.name = p_type;
    for key, active, exchange in execute format(
        'select c.key, c.active, c.exchange from (%s) as c where c.key > coalesce($2, '''') order by c.key limit $3',
        livewell.catalogue_query(v_type)
    ) using p_type, p_after, p_limit loop
        return next;
    end loop;
end $function$;

grant execute on function livewell.list_keys(text,text,integer) to livewell_service;
