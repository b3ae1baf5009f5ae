-- How old some keys of a type are, by the type's own staleness function. A key whose check fails is stale, with its error: the
-- keys are halved until the bad one is alone. A type that is wrong as a whole (no table, no column, no function, no right, a table that
-- somebody has locked) is not halved: all of it failed.
-- for: internal
create or replace function livewell.judge_items(p_type livewell.data_type, p_keys text[], p_now timestamptz)
returns livewell.judged_key[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
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
end $$;
