-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.judge_items(p_type livewell.data_type, p_keys text[], p_now timestamp with time zone)
 RETURNS livewell.judged_key[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '500ms'
AS $function$
declare
    v_judged livewell.judged_key[];
    v_half constant integer := cardinality(p_keys) / 2;
    v_error text;
begin
    begin
        execute livewell.staleness_query(p_type) into v_judged using p_keys, p_now, p_type.ttl, p_type.name;
        return v_judged;
    exception when others then
        v_error := format('%s: %s', sqlstate, sqlerrm);
        if v_half = 0 or sqlstate ~ '^(42|3F|0A|55|XX)' then
            return array(
                select row (k.key, null, p_type.ttl, true, v_error)::livewell.judged_key from unnest(p_keys) as k (key)
            );
        end if;
    end;
    return livewell.judge_items(p_type, p_keys[:v_half], p_now) || livewell.judge_items(p_type, p_keys[v_half + 1:], p_now);
end $function$;
