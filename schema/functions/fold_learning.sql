-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.fold_learning()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    if not exists (select from livewell.learned) then
        return;
    end if;
    with taken as (
        delete from livewell.learned as l
        where l.ctid = any (array(select n.ctid from livewell.learned as n limit 10000 for update skip locked))
        returning l.*
    )
    insert into livewell.type_learning as y (data_type, fetches, changes, minutes_between, bytes_mean)
    select t.data_type, sum(t.fetches), sum(t.changes), sum(t.minutes_between), sum(t.bytes) / nullif(sum(t.sizes), 0)
    from taken as t
    where exists (select from livewell.data_type as d where d.name = t.data_type)
    group by t.data_type
    order by t.data_type
    on conflict (data_type) do update
    set fetches = y.fetches + excluded.fetches, changes = y.changes + excluded.changes,
        minutes_between = y.minutes_between + excluded.minutes_between,
        bytes_mean = coalesce(y.bytes_mean + 0.1 * (excluded.bytes_mean - y.bytes_mean), y.bytes_mean, excluded.bytes_mean);
end $function$;
