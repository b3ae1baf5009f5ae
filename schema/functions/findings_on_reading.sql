-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.findings_on_reading(p_type livewell.data_type)
 RETURNS TABLE(severity text, problem text, message text, fix text)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select 'error', 'not_readable',
        case when c.relkind in ('r', 'p') then format('%s has row-level security, and read = "%s" would go round it', (p_type).table_name, (p_type).read_rule)
            else format('%s is no plain table, and read = "%s" might go round the row-level security below it', (p_type).table_name, (p_type).read_rule)
        end,
        'read = "nobody", and read it with a role of your own; or a table without row-level security'
    from pg_catalog.pg_class as c
    where c.oid = livewell.find_relation((p_type).table_name) and (p_type).read_rule <> 'nobody'
        and (c.relkind not in ('r', 'p') or c.relrowsecurity)
$function$;
