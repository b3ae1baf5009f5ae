-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.fetch_conditions(p_item_ids bigint[])
 RETURNS TABLE(item_id bigint, etag text, last_modified text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select s.item_id, s.etag, s.last_modified from livewell.fetch_state as s where s.item_id = any (p_item_ids)
$function$;

grant execute on function livewell.fetch_conditions(bigint[]) to livewell_service;
