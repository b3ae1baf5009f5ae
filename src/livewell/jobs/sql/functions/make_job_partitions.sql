-- Makes the dated partitions of finished jobs and attempts for today and some days ahead; answers with those it made.
-- for: service
create or replace function livewell.make_job_partitions(
    p_days_ahead integer default 7, p_now timestamptz default clock_timestamp()
) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
declare
    v_missing record;
begin
    perform livewell_private.require_primary();
    for v_missing in
        select p.parent, d.day::date as day, format('%s_%s', p.parent, to_char(d.day, 'YYYYMMDD')) as partition_name
        from unnest(array['job_done', 'job_failed', 'job_attempt']) as p (parent)
        cross join generate_series(
            (p_now at time zone 'UTC')::date, (p_now at time zone 'UTC')::date + p_days_ahead, interval '1 day'
        ) as d (day)
        where to_regclass(format('livewell_private.%I', format('%s_%s', p.parent, to_char(d.day, 'YYYYMMDD')))) is null
        order by d.day, p.parent
    loop
        begin
            -- Made apart and attached, because that keeps nobody from finishing jobs; the lock is for two makers at once.
            execute format('lock table only livewell_private.%I in share update exclusive mode', v_missing.parent);
            execute format('create table livewell_private.%I (like livewell_private.%I including all)', v_missing.partition_name, v_missing.parent);
            execute format(
                'alter table livewell_private.%I attach partition livewell_private.%I for values from (%L) to (%L)',
                v_missing.parent, v_missing.partition_name,
                v_missing.day::timestamp at time zone 'UTC', (v_missing.day + 1)::timestamp at time zone 'UTC'
            );
            return next v_missing.partition_name;
        exception
            -- Rows of that day are in the default partition already: the alert says so, work goes on.
            when check_violation or duplicate_table then null;
            -- Somebody is in the way: what was made is kept, and the rest is left for the next round.
            when lock_not_available then exit;
        end;
    end loop;
end $$;
