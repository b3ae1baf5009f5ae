-- Makes issuers as declared, a JSON object of their fields by name; with a plan only, says what it would do and does nothing. What a
-- declaration does not name stays as it is. Only the owner may: whose tokens count is who comes in.
-- for: owner
create or replace function livewell.apply_issuers(
    p_declared jsonb, p_plan_only boolean default false, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns table (thing text, name text, change text, field text, old jsonb, new jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    if jsonb_typeof(p_declared) is distinct from 'object' then
        raise exception using errcode = 'LWC04', message = 'issuers are declared as a JSON object: their fields by name';
    end if;
    return query
    select p.* from livewell_private.planned_changes(array(
        select livewell_private.put_issuer(d.key, d.value, p_plan_only, p_actor, p_now)
        from (select d.key, d.value from jsonb_each(p_declared) as d order by d.key) as d
    )) as p;
end $$;
