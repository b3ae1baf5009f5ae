-- Dated partitions past their retention, with whether they may be dropped: dead letters only when all were seen.
-- for: service
create or replace function livewell.expired_job_partitions(p_now timestamptz default clock_timestamp())
returns table (partition_name text, parent text, day date, droppable boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
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
        where p.relnamespace = 'livewell_private'::regnamespace and p.relname in ('job_done', 'job_failed', 'job_attempt')
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
            execute format('select not exists (select from livewell_private.%I where acknowledged_at is null)', partition_name)
            into droppable;
        end if;
        return next;
    end loop;
end $$;
