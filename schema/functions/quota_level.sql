-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.quota_level(p_used bigint, p_allowed bigint)
 RETURNS integer
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return case
        when p_used >= p_allowed then 100 when p_used >= 0.9 * p_allowed then 90 when p_used >= 0.75 * p_allowed then 75 else 0
    end;
end $function$;
