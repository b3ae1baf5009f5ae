-- Moves the time of all rows of some keys, and answers with the keys that have rows. A key whose rows may not be touched, that
-- somebody else has, or that the column cannot hold, counts as one without: it is found by its lock, or by halving.
-- for: internal
create or replace function livewell_private.touch_keys(p_storing livewell_private.storing, p_keys text[], p_now timestamptz) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' as $$
declare
    v_half constant integer := cardinality(p_keys) / 2;
    v_touched text[];
    v_busy text[];
    v_free text[];
begin
    begin
        perform livewell_private.require_foreign('touch_foreign_rows');
        v_touched := livewell_private.touch_foreign_rows(livewell_private.touching_query(p_storing), p_now, p_keys);
        return coalesce(v_touched, array[]::text[]);
    exception
        when data_exception or integrity_constraint_violation or raise_exception or with_check_option_violation then
            if v_half = 0 then
                return array[]::text[];
            end if;
        when lock_not_available then
            v_busy := livewell_private.lock_free_keys(p_storing, p_keys);
            v_free := array(select k.key from unnest(p_keys) as k (key) where k.key <> all (v_busy));
            return case when v_busy <> '{}' and v_free <> '{}' then livewell_private.touch_keys(p_storing, v_free, p_now) else array[]::text[] end;
        when syntax_error_or_access_rule_violation or feature_not_supported then
            return array[]::text[];
    end;
    return livewell_private.touch_keys(p_storing, p_keys[:v_half], p_now) || livewell_private.touch_keys(p_storing, p_keys[v_half + 1:], p_now);
end $$;
