-- Tunes an endpoint while everything runs; only the named fields change, null sets a field back to its default. False when it
-- already was so.
-- for: service
create or replace function livewell.set_endpoint(
    p_name text, p_changes jsonb, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    if not exists (select from livewell_private.endpoint as t where t.name = p_name) then
        raise exception using errcode = 'LWB01', message = format('unknown endpoint %s', coalesce(p_name, '')),
            hint = 'livewell endpoints list';
    end if;
    return exists (
        select from livewell_private.change_budgets(
            jsonb_build_object('endpoints', jsonb_build_object(p_name, p_changes)), false, p_reason, p_actor, p_now
        ) as c
        where c.change <> 'same'
    );
end $$;
