-- Whether every task succeeds in time, as a document: late is an enabled one whose last success, or its beginning, is longer
-- ago than it may be. A failed run is no run, one that never ran is not healthy. In maintenance nothing is expected.
-- for: service
create or replace function livewell.task_health(p_now timestamptz default clock_timestamp()) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_maintenance boolean;
    v_since timestamptz;
    v_late jsonb;
begin
    select s.value::boolean, s.updated_at into strict v_maintenance, v_since
    from livewell_private.setting as s where s.name = 'maintenance.enabled';
    select jsonb_agg(
        jsonb_build_object(
            'task', l.name, 'last_success_at', l.last_success_at,
            'late_by_seconds', extract(epoch from p_now - l.expected_by)::bigint, 'last_error', l.last_error
        ) order by l.expected_by, l.name
    )
    into v_late
    from (
        select t.name, t.last_success_at, t.last_error,
            greatest(t.last_success_at, t.watched_since, v_since) + t.late_after as expected_by
        from livewell_private.task as t where t.enabled
    ) as l
    where l.expected_by < p_now and not v_maintenance;
    return jsonb_build_object(
        'ok', v_late is null and exists (select from livewell_private.task), 'maintenance', v_maintenance,
        'late', coalesce(v_late, '[]'), 'tasks', (select count(*) from livewell_private.task as t where t.enabled)
    );
end $$;
