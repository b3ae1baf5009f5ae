-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.touch_keys(p_storing livewell.storing, p_keys text[], p_now timestamp with time zone)
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '250ms'
AS $function$
declare
    v_half constant integer := cardinality(p_keys) / 2;
    v_touched text[];
    v_busy text[];
    v_free text[];
begin
    begin
        perform livewell.require_foreign('touch_foreign_rows');
        v_touched := livewell.touch_foreign_rows(livewell.touching_query(p_storing), p_now, p_keys);
        return coalesce(v_touched, array[]::text[]);
    exception
        when data_exception or integrity_constraint_violation or raise_exception or with_check_option_violation then
            if v_half = 0 then
                return array[]::text[];
            end if;
        when lock_not_available then
            v_busy := livewell.lock_free_keys(p_storing, p_keys);
            v_free := array(select k.key from unnest(p_keys) as k (key) where k.key <> all (v_busy));
            return case when v_busy <> '{}' and v_free <> '{}' then livewell.touch_keys(p_storing, v_free, p_now) else array[]::text[] end;
        when syntax_error_or_access_rule_violation or feature_not_supported then
            return array[]::text[];
    end;
    return livewell.touch_keys(p_storing, p_keys[:v_half], p_now) || livewell.touch_keys(p_storing, p_keys[v_half + 1:], p_now);
end $function$;
