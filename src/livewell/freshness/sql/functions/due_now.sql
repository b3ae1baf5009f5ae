-- Makes everything watched of some types due: what decides about their age, or how they are fetched, has changed. What waited because
-- its refreshes had failed, or because it was gone, waits no longer, whether somebody looks or not. What somebody else holds is due
-- when it is free.
-- for: internal
create or replace function livewell_private.due_now(p_types text[], p_now timestamptz) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_due bigint;
    v_items constant bigint[] := array(
        select i.id from livewell_private.item as i
        where i.data_type = any (p_types) and (i.watched and i.due_at > p_now or i.failed_refreshes > 0)
    );
    v_busy constant bigint[] := livewell_private.lock_items(v_items, p_now);
begin
    update livewell_private.item as i set due_at = least(i.due_at, p_now), failed_refreshes = 0
    where i.id = any (v_items) and i.id <> all (v_busy) and (i.watched and i.due_at > p_now or i.failed_refreshes > 0);
    get diagnostics v_due = row_count;
    return v_due;
end $$;
