-- Makes providers, endpoints and keys as declared, or only says what that would change: the same code plans and applies.
-- What the declaration does not name stays as it is.
-- for: service
create or replace function livewell.apply_providers(
    p_declared jsonb, p_plan_only boolean default false, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns table (thing text, name text, change text, field text, old jsonb, new jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    return query select c.* from livewell_private.change_budgets(p_declared, p_plan_only, null, p_actor, p_now) as c;
end $$;
