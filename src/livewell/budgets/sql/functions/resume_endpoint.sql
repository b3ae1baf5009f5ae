-- Opens an endpoint (or an account, or a scope of keys) that was paused or closed; false when it was open. A breaker that is open stays so.
-- for: service
create or replace function livewell.resume_endpoint(
    p_name text, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_old timestamptz;
begin
    perform livewell_private.require_primary();
    v_old := (livewell_private.lock_limit(p_name)).closed_until;
    if v_old <= p_now then
        return false;
    end if;
    update livewell_private.limit_use as u set closed_until = '-infinity', closed_reason = null where u.name = p_name;
    perform livewell_private.reopen_limits(array[p_name]);
    perform livewell_private.audit_change(
        'endpoint_resumed', 'endpoint', p_name, jsonb_build_object('closed_until', v_old), jsonb_build_object('closed_until', null),
        p_reason, p_actor, p_now
    );
    return true;
end $$;
