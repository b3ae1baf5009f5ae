-- Closes the lanes of a kind, until resumed or until a time; jobs keep coming in and running ones go on.
-- for: service
create or replace function livewell.pause_kind(
    p_kind text, p_until timestamptz default 'infinity', p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_old timestamptz;
begin
    perform livewell_private.require_primary();
    if p_until is null or p_until <= p_now then
        raise exception using errcode = 'LWJ06', message = format('kind %s cannot be paused until %s', p_kind, p_until),
            hint = 'name a time to come, or leave it out to pause until resumed';
    end if;
    select k.paused_until into v_old from livewell_private.job_kind as k where k.kind = p_kind for update;
    if not found then
        raise exception using errcode = 'LWJ02', message = format('unknown kind %s', p_kind), hint = 'livewell kinds list';
    end if;
    update livewell_private.job_kind as k set paused_until = p_until, paused_reason = p_reason, updated_at = p_now
    where k.kind = p_kind;
    perform livewell_private.audit_change(
        'kind_paused', 'job_kind', p_kind, jsonb_build_object('paused_until', v_old), jsonb_build_object('paused_until', p_until),
        p_reason, p_actor, p_now
    );
end $$;
