-- Makes the dated partitions of finished jobs and attempts for now and some time ahead: so many days, and less of those that are kept
-- briefly. Answers with those it made.
-- for: service
create or replace function livewell.make_job_partitions(
    p_days_ahead integer default 7, p_now timestamptz default clock_timestamp()
) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' set timezone = 'UTC' as $$
declare
    v_missing record;
begin
    perform livewell_private.require_primary();
    for v_missing in
        select m.*
        from (
            select p.parent, b.begins_at, b.begins_at + p.width as ends_at, format('%s_%s', p.parent, to_char(b.begins_at, p.written)) as partition_name
            from livewell_private.dated_parents() as p
            cross join lateral generate_series(
                date_bin(p.width, p_now, timestamptz 'epoch'), p_now + least(p.ahead, make_interval(days => p_days_ahead)), p.width
            ) as b (begins_at)
        ) as m
        where to_regclass(format('livewell_private.%I', m.partition_name)) is null
        order by m.begins_at, m.parent
    loop
        begin
            -- Made apart and attached, because that keeps nobody from finishing jobs; the lock is for two makers at once.
            execute format('lock table only livewell_private.%I in share update exclusive mode', v_missing.parent);
            execute format('create table livewell_private.%I (like livewell_private.%I including all)', v_missing.partition_name, v_missing.parent);
            execute format(
                'alter table livewell_private.%I attach partition livewell_private.%I for values from (%L) to (%L)',
                v_missing.parent, v_missing.partition_name, v_missing.begins_at, v_missing.ends_at
            );
            return next v_missing.partition_name;
        exception
            -- Rows of that time are in the default partition already: the alert says so, work goes on.
            when check_violation or duplicate_table then null;
            -- Somebody is in the way: what was made is kept, and the rest is left for the next round.
            when lock_not_available then exit;
        end;
    end loop;
end $$;
