-- Tells an item that somebody looks at that its refresh was cancelled, and why; it is looked at again, not at once. One that nobody
-- looks at keeps what its last fetch came to; one that somebody else holds is looked at when it is free. A job that is not its item's refresh tells nothing.
-- for: internal
create or replace function livewell_private.refresh_cancelled() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_item bigint;
begin
    select i.id into v_item from livewell_private.item as i
    where i.data_type = new.payload ->> 'type' and i.key = new.payload ->> 'key' and i.id::text = new.payload ->> 'item' and i.viewers > 0;
    if not found or livewell_private.hold_items(array[v_item], new.finished_at) <> '{}' then
        return null;
    end if;
    update livewell_private.item as i
    set due_at = new.finished_at + greatest(interval '10 seconds', least(t.ttl, interval '5 minutes')),
        last_outcome = new.state, last_outcome_at = new.finished_at, last_reason = livewell_private.one_line(new.reason, 300)
    from livewell_private.data_type as t
    where i.id = v_item and i.viewers > 0 and t.name = i.data_type and new.kind = 'refresh.' || t.name;
    if found then
        perform livewell_private.note_outcomes(
            array[v_item], array[new.id], array[new.state], array[new.reason], new.finished_at, array[new.worker], array[new.started_at]
        );
    end if;
    return null;
end $$;
