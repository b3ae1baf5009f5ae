-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.subscribe(p_sessions uuid[], p_types text[], p_keys text[], p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS text[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_items bigint[];
begin
    perform livewell.require_primary();
    perform livewell.require_same_length(cardinality(p_sessions), cardinality(p_types), cardinality(p_keys));
    select array_agg(m.item_id order by m.item_position) into v_items from livewell.make_items(p_types, p_keys, p_now) as m;
    return coalesce(livewell.add_subscriptions(p_sessions, v_items, p_now), '{}');
end $function$;

grant execute on function livewell.subscribe(uuid[],text[],text[],timestamp with time zone) to livewell_service;
