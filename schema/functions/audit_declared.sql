-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.audit_declared(p_table_name text, p_added text, p_changed text, p_changes livewell.declared_change[], p_reason text, p_actor text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.audit_change(
        case c.change when 'add' then p_added else p_changed end, p_table_name, c.name, c.old, c.new, p_reason, p_actor, p_now
    )
    from unnest(p_changes) as c
    where c.change <> 'same';
end $function$;
