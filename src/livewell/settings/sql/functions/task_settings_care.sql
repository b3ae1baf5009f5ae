-- Finds settings whose value is not what it may be: bounds can change under a tuned value. Says which, and changes none.
-- for: service
create or replace function livewell.task_settings_care(p_now timestamptz default clock_timestamp()) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
    select jsonb_build_object('unfit', coalesce(jsonb_agg(jsonb_build_object(
        'setting', s.name, 'problem', livewell_private.setting_problem(s, s.value)
    ) order by s.name), '[]'))
    from livewell_private.setting s
    where p_now is not null and livewell_private.setting_problem(s, s.value) is not null
$$;
