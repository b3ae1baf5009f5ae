-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.verify_audit_guards()
 RETURNS TABLE(problem text, seal bigint, entry_id bigint, detail text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select 'guard_missing', null::bigint, null::bigint, format('nothing refuses changes of %s: its trigger %s', t.name, case
        when g.tgname is null then 'is not there' when g.tgenabled <> 'A' then 'is switched off' else 'is another one'
    end)
    from (values ('audit_entry'), ('audit_seal')) as t (name)
    left join pg_class as c on c.relname = t.name and c.relnamespace = 'livewell'::regnamespace
    left join pg_trigger as g on g.tgrelid = c.oid and g.tgname = t.name || '_is_append_only'
    -- Before a statement (2), delete (8), update (16) or truncate (32).
    where (g.tgenabled = 'A' and g.tgtype = 58 and g.tgqual is null and g.tgfoid = 'livewell.refuse_audit_change'::regproc) is not true
    order by t.name
$function$;

grant execute on function livewell.verify_audit_guards() to livewell_service;
