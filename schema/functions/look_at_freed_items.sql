-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.look_at_freed_items(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
begin
    if not exists (select from livewell.locked_row) then
        return;
    end if;
    with freed as materialized (
        select i.id from livewell.item as i
        where i.id in (select h.row_key::bigint from livewell.locked_row as h where h.table_name = 'livewell.item')
        order by i.id for no key update skip locked
    ),
    forgotten as (
        delete from livewell.locked_row as h
        where h.noted_at < p_now - interval '1 hour'
            or h.table_name = 'livewell.item' and h.row_key in (select f.id::text from freed as f)
    )
    update livewell.item as i set due_at = p_now
    from freed as f
    where i.id = f.id and i.due_at > p_now and not (i.failed_refreshes > 0 and i.decision is not distinct from 'refresh_failed');
end $function$;
