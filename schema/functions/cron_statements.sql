-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.cron_statements(p_database text DEFAULT current_database())
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
        from livewell.task as t
        order by t.name
    )
$function$;

grant execute on function livewell.cron_statements(text) to livewell_service;
