-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.expired_job_partitions(p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(partition_name text, parent text, ends_at timestamp with time zone, droppable boolean)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "TimeZone" TO 'UTC'
AS $function$
#variable_conflict use_column
begin
    for partition_name, parent, ends_at in
        select c.relname, d.parent, e.ends_at
        from livewell.dated_parents() as d
        join pg_catalog.pg_inherits as i on i.inhparent = to_regclass('livewell.' || d.parent)
        join pg_catalog.pg_class as c on c.oid = i.inhrelid and c.relname ~ '_[0-9]+$'
        cross join lateral (select to_timestamp(substring(c.relname from '[0-9]+$'), d.written) + d.width as ends_at) as e
        where e.ends_at <= p_now - d.kept
        order by e.ends_at, d.parent
    loop
        droppable := true;
        if parent = 'job_failed' then
            execute format('select not exists (select from livewell.%I where acknowledged_at is null)', partition_name)
            into droppable;
        end if;
        return next;
    end loop;
end $function$;

grant execute on function livewell.expired_job_partitions(timestamp with time zone) to livewell_service;
