-- What forbids that users read the table of a type: row-level security, which a function that runs as its owner would go round,
-- and a view, which may stand on such a table.
-- for: internal
create or replace function livewell_private.findings_on_reading(p_type livewell_private.data_type)
returns table (severity text, problem text, message text, fix text)
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select 'error', 'not_readable',
        case when c.relkind in ('r', 'p') then format('%s has row-level security, and read = "%s" would go round it', (p_type).table_name, (p_type).read_rule)
            else format('%s is no plain table, and read = "%s" might go round the row-level security below it', (p_type).table_name, (p_type).read_rule)
        end,
        'read = "nobody", and read it with a role of your own; or a table without row-level security'
    from pg_catalog.pg_class as c
    where c.oid = livewell_private.find_relation((p_type).table_name) and (p_type).read_rule <> 'nobody'
        and (c.relkind not in ('r', 'p') or c.relrowsecurity)
$$;
