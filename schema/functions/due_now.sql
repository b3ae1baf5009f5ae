-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.due_now(p_types text[], p_now timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_due bigint;
begin
    perform from livewell.item as i
    where i.data_type = any (p_types) and (i.watched and i.due_at > p_now or i.failed_refreshes > 0)
    order by i.id for no key update;
    update livewell.item as i set due_at = least(i.due_at, p_now), failed_refreshes = 0
    where i.data_type = any (p_types) and (i.watched and i.due_at > p_now or i.failed_refreshes > 0);
    get diagnostics v_due = row_count;
    return v_due;
end $function$;
