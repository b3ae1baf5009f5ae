-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.staleness_query(p_type livewell.data_type)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select format(
        'select array_agg(case when a.newest is not null then %I.%I(a.newest, a.ttl, $3) end order by a.at)'
        ' from unnest($1, $2) with ordinality as a (newest, ttl, at)',
        split_part((p_type).staleness, '.', 1), split_part((p_type).staleness, '.', 2)
    )
$function$;
