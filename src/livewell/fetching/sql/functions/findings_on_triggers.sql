-- Triggers of a type's table that would run with the rights to write to other types' tables, and belong to somebody who lacks them.
-- for: internal
create or replace function livewell_private.findings_on_triggers(p_type livewell_private.data_type)
returns table (severity text, problem text, message text, fix text)
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select 'warning', 'not_trusted',
        format('trigger %s of %s would run with the rights of livewell_writer, but belongs to %s', g.tgname, p_type.table_name,
            p.proowner::regrole),
        format('alter function %s security definer, or give it to livewell_writer', p.oid::regprocedure)
    from pg_catalog.pg_trigger as g
    join pg_catalog.pg_proc as p on p.oid = g.tgfoid
    where g.tgrelid = livewell_private.find_relation(p_type.table_name) and not g.tgisinternal and g.tgenabled <> 'D'
        and not p.prosecdef and not pg_catalog.pg_has_role(p.proowner, 'livewell_writer', 'member')
$$;
