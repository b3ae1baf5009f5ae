-- Sets one setting back to the value it was shipped with; checked, recorded and told like any other change.
-- for: service
create or replace function livewell.reset_setting(
    p_name text, p_actor text default null, p_reason text default null, p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    return livewell.set_setting(
        p_name, (select s.default_value from livewell_private.setting s where s.name = p_name), p_actor, p_reason, p_now);
end
$$;
