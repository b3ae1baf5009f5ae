-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.touch_records(p_type text, p_keys text[], p_now timestamp with time zone)
 RETURNS text[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_touched text[];
begin
    perform from livewell.record as r where r.data_type = p_type and r.key = any (p_keys) order by r.key for update;
    with touched as (
        update livewell.record as r set fetched_at = p_now where r.data_type = p_type and r.key = any (p_keys) returning r.key
    )
    select array_agg(t.key) into v_touched from touched as t;
    return coalesce(v_touched, '{}');
end $function$;
