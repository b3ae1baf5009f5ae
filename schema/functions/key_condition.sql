-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.key_condition(p_column text, p_pattern text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select format(
        'case when %1$s is null or length(%1$s) not between 1 and 256 or %1$s ~ %3$L then false else %1$s ~ %2$s end',
        p_column, p_pattern, livewell.strange_characters()
    )
$function$;
