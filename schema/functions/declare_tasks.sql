-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.declare_tasks(p_declared jsonb, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS SETOF text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    -- Two programs that start at once declare the same tasks: the second waits, and finds them there.
    perform livewell.take_lock('tasks');
    return query
    select distinct a.name
    from livewell.apply_tasks(
        coalesce(
            (
                select jsonb_object_agg(d.key, d.value) from jsonb_each(p_declared) as d
                where not exists (select from livewell.task as t where t.name = d.key)
            ), '{}'
        ), false, p_actor, p_now
    ) as a;
end $function$;

grant execute on function livewell.declare_tasks(jsonb,text,timestamp with time zone) to livewell_service;
