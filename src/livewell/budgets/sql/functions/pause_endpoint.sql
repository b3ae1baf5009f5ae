-- Closes an endpoint (or an account, or a scope of keys) until resumed or until a time: nothing more is sent there, jobs keep coming in and running ones go on.
-- for: service
create or replace function livewell.pause_endpoint(
    p_name text, p_until timestamptz default 'infinity', p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_old timestamptz;
begin
    perform livewell_private.require_primary();
    if p_until is null or p_until <= p_now then
        raise exception using errcode = 'LWB03', message = format('endpoint %s cannot be paused until %s', p_name, p_until),
            hint = 'name a time to come, or leave it out to pause until resumed';
    end if;
    v_old := (livewell_private.lock_limit(p_name)).closed_until;
    update livewell_private.limit_use as u set
        closed_until = p_until, closed_reason = coalesce(p_reason, 'paused'),
        next_allowed_at = p_until
    where u.name = p_name;
    perform livewell_private.audit_change(
        'endpoint_paused', 'endpoint', p_name, jsonb_build_object('closed_until', v_old), jsonb_build_object('closed_until', p_until),
        p_reason, p_actor, p_now
    );
end $$;
