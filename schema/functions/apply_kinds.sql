-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.apply_kinds(p_declared jsonb, p_plan_only boolean DEFAULT false, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(thing text, name text, change text, field text, old jsonb, new jsonb)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    return query
    select p.* from livewell.planned_changes(array(
        select livewell.put_kind(d.key, d.value, p_plan_only, null, p_actor, p_now)
        from (select d.key, d.value from jsonb_each(p_declared) as d order by d.key) as d
    )) as p;
end $function$;

grant execute on function livewell.apply_kinds(jsonb,boolean,text,timestamp with time zone) to livewell_service;
