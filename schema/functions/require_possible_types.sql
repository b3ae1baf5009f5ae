-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_possible_types(p_types livewell.data_type[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.refuse_type(t.name, livewell.type_problem(t)) from unnest(p_types) as t where livewell.type_problem(t) is not null;
    perform livewell.refuse_type(t.name, e.message, e.fix)
    from unnest(p_types) as t cross join lateral livewell.endpoint_finding(t.endpoint) as e;
end $function$;
