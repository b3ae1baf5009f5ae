-- Dated partitions past their retention, oldest first, with whether they may be dropped: dead letters only when all were seen.
-- for: service
create or replace function livewell.expired_job_partitions(p_now timestamptz default clock_timestamp())
returns table (partition_name text, parent text, ends_at timestamptz, droppable boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
#variable_conflict use_column
begin
    for partition_name, parent, ends_at in
        select c.relname, d.parent, e.ends_at
        from livewell_private.dated_parents() as d
        join pg_catalog.pg_inherits as i on i.inhparent = to_regclass('livewell_private.' || d.parent)
        join pg_catalog.pg_class as c on c.oid = i.inhrelid and c.relname ~ '_[0-9]+$'
        cross join lateral (select to_timestamp(substring(c.relname from '[0-9]+$'), d.written) + d.width as ends_at) as e
        where e.ends_at <= p_now - d.kept
        order by e.ends_at, d.parent
    loop
        droppable := true;
        if parent = 'job_failed' then
            execute format('select not exists (select from livewell_private.%I where acknowledged_at is null)', partition_name)
            into droppable;
        end if;
        return next;
    end loop;
end $$;
