-- What forbids that users read a type as its rule says. A function of ours would go round row-level security, and a view may stand on a
-- table that has it; a rule that leaves it to row-level security needs some, and a policy by which Livewell itself sees the rows.
-- for: internal
create or replace function livewell_private.findings_on_reading(p_type livewell_private.data_type)
returns table (severity text, problem text, message text, fix text)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    if p_type.read_rule = 'function' then
        return query select f.* from livewell_private.findings_on_function(p_type.read_function, 'text, text[]', 'SETOF text') as f;
    end if;
    -- Livewell's own table has neither row-level security nor columns.
    if p_type.table_name is null or p_type.read_rule = 'nobody' then
        return;
    end if;
    return query
    select 'error', 'not_readable',
        case when c.relkind in ('r', 'p') then format('%s has row-level security, and read = "%s" would go round it', (p_type).table_name, (p_type).read_rule)
            else format('%s is no plain table, and read = "%s" might go round the row-level security below it', (p_type).table_name, (p_type).read_rule)
        end,
        'read = "rls", or "nobody" and read it with a role of your own; or a table without row-level security'
    from pg_catalog.pg_class as c
    where c.oid = livewell_private.find_relation((p_type).table_name) and (p_type).read_rule <> 'rls'
        and (c.relkind not in ('r', 'p') or c.relrowsecurity)
    union all
    select 'error', 'not_readable', format('%s has no row-level security, and read = "rls" leaves it to that who sees a row', (p_type).table_name),
        format('alter table %s enable row level security, with a policy for your users and one for livewell_reader', (p_type).table_name)
    from pg_catalog.pg_class as c
    where c.oid = livewell_private.find_relation((p_type).table_name) and (p_type).read_rule = 'rls'
        and not (c.relkind in ('r', 'p') and c.relrowsecurity)
    union all
    select 'error', 'no_policy', format('livewell_reader sees no row of %s: it has no policy there', (p_type).table_name),
        format('create policy livewell on %s to livewell_reader, livewell_writer using (true) with check (true)', (p_type).table_name)
    from pg_catalog.pg_class as c
    where c.oid = livewell_private.find_relation((p_type).table_name) and (p_type).read_rule = 'rls' and c.relrowsecurity
        and not exists (
            select from pg_catalog.pg_policy as p
            where p.polrelid = c.oid and p.polpermissive and p.polcmd in ('r', '*')
                and (0::oid = any (p.polroles) or 'livewell_reader'::regrole::oid = any (p.polroles))
        )
    union all
    select 'warning', 'no_right', format('livewell_user may not select from %s', (p_type).table_name),
        format('grant select on %s to livewell_user, or to the role that your issuers name', (p_type).table_name)
    from pg_catalog.pg_class as c
    where c.oid = livewell_private.find_relation((p_type).table_name) and (p_type).read_rule = 'rls'
        and not pg_catalog.has_table_privilege('livewell_user', c.oid, 'select')
    union all
    select 'error', 'no_column', format('%s has no column %s, which read.equals names', (p_type).table_name, substr((p_type).read_equals, 8)),
        'read = { claim = …, equals = "column:NAME" }, with a column that is there'
    where (p_type).read_equals like 'column:%' and (p_type).table_name is not null and not exists (
        select from pg_catalog.pg_attribute as a
        where a.attrelid = livewell_private.find_relation((p_type).table_name) and a.attname = substr((p_type).read_equals, 8)
            and a.attnum > 0 and not a.attisdropped
    );
end $$;
