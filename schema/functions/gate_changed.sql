-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.gate_changed(p_gate text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    insert into livewell.gate_change as c (gate, changed_at) values (p_gate, p_now)
    on conflict (gate) do update set changed_at = excluded.changed_at
$function$;
