-- What people and programs declare of a kind of jobs.
-- for: internal
create or replace function livewell_private.declared_kind() returns livewell_private.declared_thing
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select livewell_private.describe_thing('kind', 'livewell_private.job_kind', 'LWJ06', array[
        'kind', 'jobs_per_request', 'paused_until', 'paused_reason', 'created_at', 'updated_at'
    ])
$$;
