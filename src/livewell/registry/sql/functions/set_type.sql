-- Tunes a data type while everything runs; only the named fields change, null sets a field back to its default. False when it
-- already was so. Only the owner of the schema may.
-- for: owner
create or replace function livewell.set_type(
    p_name text, p_changes jsonb, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_type(p_name);
    perform livewell.change_types(jsonb_build_object(p_name, p_changes), true, p_reason, p_actor, p_now);
    perform livewell_private.require_sound_types(jsonb_build_object(p_name, p_changes), p_now);
    return exists (
        select from livewell.change_types(jsonb_build_object(p_name, p_changes), false, p_reason, p_actor, p_now) as c
        where c.change <> 'same'
    );
end $$;
