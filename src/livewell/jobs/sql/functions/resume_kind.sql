-- Opens the lanes of a paused kind again and wakes its workers; false when it was not paused.
-- for: service
create or replace function livewell.resume_kind(
    p_kind text, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_old timestamptz;
begin
    perform livewell_private.require_primary();
    select k.paused_until into v_old from livewell_private.job_kind as k where k.kind = p_kind for update;
    if not found then
        raise exception using errcode = 'LWJ02', message = format('unknown kind %s', p_kind), hint = 'livewell kinds list';
    end if;
    if v_old is null or v_old <= p_now then
        return false;
    end if;
    update livewell_private.job_kind as k set paused_until = null, paused_reason = null, updated_at = p_now where k.kind = p_kind;
    perform livewell_private.audit_change(
        'kind_resumed', 'job_kind', p_kind, jsonb_build_object('paused_until', v_old), jsonb_build_object('paused_until', null),
        p_reason, p_actor, p_now
    );
    perform livewell_private.wake_workers(array[p_kind]);
    return true;
end $$;
