-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.random_watched(p_items bigint)
 RETURNS TABLE(item_id bigint, weight double precision)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
    v_watched double precision;
begin
    select count(*) into v_watched from (select from livewell.item as i where i.watched limit p_items + 1) as i;
    if v_watched <= p_items then
        return query select i.id, 1::double precision from livewell.item as i where i.watched;
        return;
    end if;
    select c.reltuples into v_watched from pg_catalog.pg_class as c where c.oid = 'livewell.item_due'::regclass;
    if v_watched <= p_items then
        select count(*) into v_watched from livewell.item as i where i.watched;
    end if;
    return query
    select i.id, v_watched / p_items
    from livewell.item as i tablesample system ((100 * p_items / v_watched)::real)
    where i.watched;
end $function$;
