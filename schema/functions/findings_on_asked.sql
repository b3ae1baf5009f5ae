-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.findings_on_asked(p_declared jsonb, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(data_type text, severity text, problem text, message text, fix text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
    perform livewell.require_primary();
    return query
    select (a.type).name, f.*
    from livewell.types_as_asked(p_declared, p_now) as a
    cross join lateral (
        select e.* from livewell.endpoint_finding((a.type).endpoint) as e where livewell.type_problem(a.type) is null
        union all
        select f.* from livewell.findings_on_type(a.type, p_now) as f where (a.type).enabled or f.problem in ('invalid', 'cron')
    ) as f
    order by 1, f.severity, f.problem, f.message;
end $function$;
