-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refresh_cancelled()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_item bigint;
begin
    select i.id into v_item from livewell.item as i
    where i.data_type = new.payload ->> 'type' and i.key = new.payload ->> 'key' and i.id::text = new.payload ->> 'item' and i.viewers > 0;
    if not found or livewell.hold_items(array[v_item], new.finished_at) <> '{}' then
        return null;
    end if;
    update livewell.item as i
    set due_at = new.finished_at + greatest(interval '10 seconds', least(t.ttl, interval '5 minutes')),
        last_outcome = new.state, last_outcome_at = new.finished_at, last_reason = livewell.one_line(new.reason, 300)
    from livewell.data_type as t
    where i.id = v_item and i.viewers > 0 and t.name = i.data_type and new.kind = 'refresh.' || t.name;
    if found then
        perform livewell.note_outcomes(
            array[v_item], array[new.id], array[new.state], array[new.reason], new.finished_at, array[new.worker], array[new.started_at]
        );
    end if;
    return null;
end $function$;
