-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_items(p_item_ids bigint[], p_now timestamp with time zone)
 RETURNS bigint[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '250ms'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
    perform from livewell.item as i where i.id = any (p_item_ids) order by i.id for no key update;
    return array[]::bigint[];
exception when lock_not_available then
    return livewell.lock_free_items(p_item_ids, p_now);
end $function$;
