-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.expired_job_partitions(p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(partition_name text, parent text, day date, droppable boolean)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
    v_part record;
    v_failed constant interval := livewell.setting_interval('jobs.retention.failed');
    v_finished constant interval := greatest(
        livewell.setting_interval('jobs.retention.completed'), livewell.setting_interval('jobs.retention.cancelled')
    );
begin
    for v_part in
        select c.relname::text as name, p.relname::text as parent, to_date(right(c.relname, 8), 'YYYYMMDD') as day
        from pg_catalog.pg_inherits as i
        join pg_catalog.pg_class as c on c.oid = i.inhrelid
        join pg_catalog.pg_class as p on p.oid = i.inhparent
        where p.relnamespace = 'livewell'::regnamespace and p.relname in ('job_done', 'job_failed', 'job_attempt')
            and c.relname ~ '_[0-9]{8}$'
        order by 3, 2
    loop
        partition_name := v_part.name;
        parent := v_part.parent;
        day := v_part.day;
        droppable := true;
        continue when (day + 1)::timestamp at time zone 'UTC' > p_now - case parent
            when 'job_failed' then v_failed when 'job_done' then v_finished else greatest(v_failed, v_finished)
        end;
        if parent = 'job_failed' then
            execute format('select not exists (select from livewell.%I where acknowledged_at is null)', partition_name)
            into droppable;
        end if;
        return next;
    end loop;
end $function$;

grant execute on function livewell.expired_job_partitions(timestamp with time zone) to livewell_service;
