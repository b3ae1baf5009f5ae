-- Makes data types as declared, a JSON object of their fields by name, or only says what that would change: the same code
-- plans and applies. What the declaration does not name stays as it is. Only the owner of the schema may.
-- for: owner
create or replace function livewell.apply_types(
    p_declared jsonb, p_plan_only boolean default false, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns table (thing text, name text, change text, field text, old jsonb, new jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    perform livewell.change_types(p_declared, true, null, p_actor, p_now);
    perform livewell_private.require_sound_types(p_declared, p_now);
    return query select c.* from livewell.change_types(p_declared, p_plan_only, null, p_actor, p_now) as c;
end $$;
