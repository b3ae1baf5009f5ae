-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.check_types(p_names text[] DEFAULT NULL::text[], p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(data_type text, severity text, problem text, message text, fix text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
    perform livewell.require_primary();
    perform livewell.require_type(n.name) from unnest(p_names) as n (name);
    return query
    select t.name, case when t.enabled or f.problem in ('invalid', 'cron') then f.severity else 'warning' end, f.problem, f.message, f.fix
    from livewell.data_type as t
    cross join lateral livewell.findings_on_type(t, p_now) as f
    where p_names is null or t.name = any (p_names)
    order by 1, 2, 3, 4;
end $function$;

grant execute on function livewell.check_types(text[],timestamp with time zone) to livewell_service;
