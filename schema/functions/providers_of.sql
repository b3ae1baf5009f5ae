-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.providers_of(p_names text[])
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if cardinality(p_names) = 1 then
        return array[split_part(split_part(p_names[1], '/', 1), '@', 1)];
    end if;
    return array(select distinct split_part(split_part(n.name, '/', 1), '@', 1) from unnest(p_names) as n (name));
end $function$;
