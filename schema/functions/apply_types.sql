-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.apply_types(p_declared jsonb, p_plan_only boolean DEFAULT false, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(thing text, name text, change text, field text, old jsonb, new jsonb)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    perform livewell.change_types(p_declared, true, null, p_actor, p_now);
    perform livewell.require_sound_types(p_declared, p_now);
    return query select c.* from livewell.change_types(p_declared, p_plan_only, null, p_actor, p_now) as c;
end $function$;
