-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.set_type(p_name text, p_changes jsonb, p_reason text DEFAULT NULL::text, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    perform livewell.require_type(p_name);
    perform livewell.change_types(jsonb_build_object(p_name, p_changes), true, p_reason, p_actor, p_now);
    perform livewell.require_sound_types(jsonb_build_object(p_name, p_changes), p_now);
    return exists (
        select from livewell.change_types(jsonb_build_object(p_name, p_changes), false, p_reason, p_actor, p_now) as c
        where c.change <> 'same'
    );
end $function$;
