-- Watched items for a figure, each with how many it stands for: all of them, or a random part when there are more than so many.
-- How many there are is asked of the index only as far as needed; beyond that the statistics must do.
-- for: internal
create or replace function livewell_private.random_watched(p_items bigint) returns table (item_id bigint, weight double precision)
language plpgsql volatile
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_watched double precision;
begin
    select count(*) into v_watched from (select from livewell_private.item as i where i.watched limit p_items + 1) as i;
    if v_watched <= p_items then
        return query select i.id, 1::double precision from livewell_private.item as i where i.watched;
        return;
    end if;
    select c.reltuples into v_watched from pg_catalog.pg_class as c where c.oid = 'livewell_private.item_due'::regclass;
    if v_watched <= p_items then
        select count(*) into v_watched from livewell_private.item as i where i.watched;
    end if;
    return query
    select i.id, v_watched / p_items
    from livewell_private.item as i tablesample system ((100 * p_items / v_watched)::real)
    where i.watched;
end $$;
