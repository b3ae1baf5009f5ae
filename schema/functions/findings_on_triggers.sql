-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.findings_on_triggers(p_type livewell.data_type)
 RETURNS TABLE(severity text, problem text, message text, fix text)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select 'warning', 'not_trusted',
        format('trigger %s of %s would run with the rights of livewell_writer, but belongs to %s', g.tgname, p_type.table_name,
            p.proowner::regrole),
        format('alter function %s security definer, or give it to livewell_writer', p.oid::regprocedure)
    from pg_catalog.pg_trigger as g
    join pg_catalog.pg_proc as p on p.oid = g.tgfoid
    where g.tgrelid = livewell.find_relation(p_type.table_name) and not g.tgisinternal and g.tgenabled <> 'D'
        and not p.prosecdef and not pg_catalog.pg_has_role(p.proowner, 'livewell_writer', 'member')
$function$;
