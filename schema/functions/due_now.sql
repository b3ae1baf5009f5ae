-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.due_now(p_types text[], p_now timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_due bigint;
    v_items constant bigint[] := array(
        select i.id from livewell.item as i
        where i.data_type = any (p_types) and (i.watched and i.due_at > p_now or i.failed_refreshes > 0)
    );
    v_busy constant bigint[] := livewell.lock_items(v_items, p_now);
begin
    update livewell.item as i set due_at = least(i.due_at, p_now), failed_refreshes = 0
    where i.id = any (v_items) and i.id <> all (v_busy) and (i.watched and i.due_at > p_now or i.failed_refreshes > 0);
    get diagnostics v_due = row_count;
    return v_due;
end $function$;
