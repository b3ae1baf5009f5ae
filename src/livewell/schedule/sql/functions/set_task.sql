-- Tunes, enables or disables a task while everything runs; only the named fields change. False when it already was so.
-- for: service
create or replace function livewell.set_task(
    p_name text, p_changes jsonb, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    if not exists (select from livewell_private.task as t where t.name = p_name) then
        perform livewell_private.refuse_unknown_task(p_name);
    end if;
    return (livewell_private.put_task(p_name, p_changes, false, p_reason, p_actor, p_now)).change <> 'same';
end $$;
