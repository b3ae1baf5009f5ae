-- Takes each named task that is due, free, enabled and not held back by maintenance, and says why the others were not.
-- Never waits: a row that somebody has locked is locked. An expired lease is free, and its run is recorded as lost.
-- Forced, it takes what is not due or disabled too, never what is locked.
-- for: service
create or replace function livewell.take_tasks(
    p_names text[], p_node text, p_force boolean default false, p_now timestamptz default clock_timestamp()
) returns table (
    name text, reason text, run text, token uuid, epoch bigint, lease_seconds double precision,
    time_limit_seconds double precision
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_maintenance constant boolean := livewell.setting_boolean('maintenance.enabled');
    v_taken livewell_private.taken_task[];
begin
    perform livewell_private.require_primary();
    perform livewell_private.refuse_unknown_task(n.name) from unnest(p_names) as n (name)
    where not exists (select from livewell_private.task as t where t.name = n.name);

    -- What decides is on the row itself and is looked at again once it is locked.
    with free as materialized (
        select t.name, t.epoch, t.lease_token, t.holder, t.started_at
        from livewell_private.task as t
        where t.name = any (p_names) and not v_maintenance
            and (p_force or t.enabled and t.due_at <= p_now)
            and (t.lease_token is null or t.lease_until <= p_now)
        for update skip locked
    ),
    lost as (
        insert into livewell_private.task_run (task, epoch, node, outcome, started_at, ended_at, total_time, longest_time, error)
        select f.name, f.epoch, f.holder, 'lost', f.started_at, p_now, p_now - f.started_at, p_now - f.started_at,
            jsonb_build_object('type', 'LeaseExpired', 'message', format('node %s went silent', f.holder))
        from free as f where f.lease_token is not null
    ),
    taken as (
        update livewell_private.task as t
        set lease_token = gen_random_uuid(), lease_until = p_now + t.lease, holder = p_node, started_at = p_now,
            epoch = t.epoch + 1
        from free as f where f.name = t.name
        returning t.name, t.run, t.lease_token, t.epoch, t.lease, t.time_limit
    )
    select array_agg(row (k.name, k.run, k.lease_token, k.epoch, k.lease, k.time_limit)::livewell_private.taken_task)
    into v_taken from taken as k;

    perform livewell_private.audit_change('task_forced', 'task', k.name, null, null, null, p_node, p_now)
    from unnest(v_taken) as k where p_force;
    return query
    select t.name,
        case
            when k.name is not null then null
            when v_maintenance then 'maintenance'
            when t.lease_token is not null and t.lease_until > p_now then 'locked'
            when not t.enabled then 'disabled'
            when t.due_at > p_now then 'not_due'
            else 'locked'
        end,
        k.run, k.token, k.epoch, extract(epoch from k.lease)::double precision,
        extract(epoch from k.time_limit)::double precision
    from livewell_private.task as t left join unnest(v_taken) as k on k.name = t.name
    where t.name = any (p_names)
    order by t.name;
end $$;
