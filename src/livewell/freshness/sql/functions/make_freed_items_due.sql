-- Makes items due that somebody had locked when something concerned them, once they are free; what waits because its refresh failed
-- waits for its time. Old notes are forgotten.
-- for: internal
create or replace function livewell_private.make_freed_items_due(p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
begin
    if not exists (select from livewell_private.locked_row) then
        return;
    end if;
    with freed as materialized (
        select i.id from livewell_private.item as i
        where i.id in (select h.row_key::bigint from livewell_private.locked_row as h where h.table_name = 'livewell_private.item')
        order by i.id for no key update skip locked
    ),
    forgotten as (
        delete from livewell_private.locked_row as h
        where h.noted_at < p_now - interval '1 hour'
            or h.table_name = 'livewell_private.item' and h.row_key in (select f.id::text from freed as f)
    )
    update livewell_private.item as i set due_at = p_now
    from freed as f
    where i.id = f.id and i.due_at > p_now and not (i.failed_refreshes > 0 and i.decision is not distinct from 'refresh_failed');
end $$;
