-- Tunes a kind while everything runs; only the named fields change, null sets a field back to its default.
-- for: service
create or replace function livewell.set_kind(
    p_kind text, p_changes jsonb, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    if not exists (select from livewell_private.job_kind as k where k.kind = p_kind) then
        raise exception using errcode = 'LWJ02', message = format('unknown kind %s', p_kind), hint = 'livewell kinds list';
    end if;
    return (livewell_private.put_kind(p_kind, p_changes, false, p_reason, p_actor, p_now)).change <> 'same';
end $$;
