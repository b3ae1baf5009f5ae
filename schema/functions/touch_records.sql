-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.touch_records(p_type text, p_keys text[], p_now timestamp with time zone)
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_touched text[];
begin
    perform from (select k.key from unnest(p_keys) as k (key) order by k.key) as k
    cross join lateral (select from livewell.record as r where r.data_type = p_type and r.key = k.key for update) as r;
    with touched as (
        update livewell.record as r set fetched_at = p_now
        from unnest(p_keys) as k (key)
        where r.data_type = p_type and r.key = k.key
        returning r.key
    )
    select array_agg(t.key) into v_touched from touched as t;
    return coalesce(v_touched, '{}');
end $function$;
