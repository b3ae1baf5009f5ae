-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.is_key(p_key text, p_pattern text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if p_key is null or length(p_key) not between 1 and 256
        or p_key ~ livewell.strange_characters() then
        return false;
    end if;
    return p_key ~ p_pattern;
end $function$;
