-- The tasks as statements for pg_cron, to be run in the database it lives in. pg_cron only asks, every minute or, from its
-- version 1.5 on, every so many seconds; what is due is decided here, so time zones, jitter, backoff and tuning hold.
-- for: service
create or replace function livewell.cron_statements(p_database text default current_database()) returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
    select '-- The tasks of Livewell for pg_cron; run this in the database that cron.database_name names. To take them out:'
    union all
    select format('--   select cron.unschedule(jobid) from cron.job where starts_with(jobname, %L);', format('livewell:%s:', p_database))
    union all
    (
        select case
            when t.run is null then format('-- %s is run by a program; pg_cron cannot.', t.name)
            else format(
                'select cron.schedule_in_database(%L, %s, %L, %L);',
                format('livewell:%s:%s', p_database, t.name),
                case
                    when t.every < interval '1 minute' then format(
                        'case when (select regexp_match(extversion, ''^(\d+)\.(\d+)'')::integer[] from pg_extension'
                        ' where extname = ''pg_cron'') >= array[1, 5] then %L else %L end',
                        greatest(1, extract(epoch from t.every)::integer) || ' seconds', '* * * * *'
                    )
                    else quote_literal('* * * * *')
                end,
                format('select %s(%L, p_node => %L)', 'livewell.run_task', t.name, 'pg_cron'),
                p_database
            )
        end
        from livewell_private.task as t
        order by t.name
    )
$$;
