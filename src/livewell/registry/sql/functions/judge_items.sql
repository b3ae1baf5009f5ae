-- How old some keys of a type are, by the type's own staleness function. A key whose check fails is stale, with its error: the
-- keys are halved until the bad one is alone. A type that is wrong as a whole (no table, no column, no function, no right, a table that
-- somebody has locked) is not halved: all of it failed.
-- for: internal
create or replace function livewell_private.judge_items(p_type livewell_private.data_type, p_keys text[], p_now timestamptz)
returns livewell_private.judged_key[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
declare
    v_own constant boolean := p_type.staleness = 'livewell.is_stale';
    v_half constant integer := cardinality(p_keys) / 2;
    v_keys text[];
    v_newest timestamptz[];
    v_ttls interval[];
    v_stale boolean[];
    v_error text;
begin
    begin
        if p_type.table_name is null then
            execute livewell_private.ages_query(p_type) into v_keys, v_newest, v_ttls using p_keys, p_type.name;
        else
            perform livewell_private.require_foreign('read_foreign_ages');
            select a.keys, a.newest, a.ttls into v_keys, v_newest, v_ttls
            from livewell_private.read_foreign_ages(livewell_private.ages_query(p_type), p_keys) as a;
        end if;
        if not v_own then
            perform livewell_private.require_foreign('judge_foreign_ages');
            v_stale := livewell_private.judge_foreign_ages(
                livewell_private.staleness_query(p_type), v_newest,
                array(select coalesce(t.ttl, p_type.ttl) from unnest(v_ttls) as t (ttl)), p_now
            );
        end if;
        return array(
            select row (
                a.key, a.newest, t.ttl,
                a.newest is null or case when v_own then livewell.is_stale(a.newest, t.ttl, p_now) else coalesce(a.stale, true) end, null
            )::livewell_private.judged_key
            from unnest(v_keys, v_newest, v_ttls, v_stale) as a (key, newest, ttl, stale)
            cross join lateral (select coalesce(a.ttl, p_type.ttl) as ttl) as t
        );
    exception when others then
        v_error := format('%s: %s', sqlstate, sqlerrm);
        if v_half = 0 or sqlstate ~ '^(42|3F|0A|55|XX)' then
            return array(
                select row (k.key, null, p_type.ttl, true, v_error)::livewell_private.judged_key from unnest(p_keys) as k (key)
            );
        end if;
    end;
    return livewell_private.judge_items(p_type, p_keys[:v_half], p_now) || livewell_private.judge_items(p_type, p_keys[v_half + 1:], p_now);
end $$;
