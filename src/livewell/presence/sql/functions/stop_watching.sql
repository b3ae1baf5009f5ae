-- A user ends a session of the user's own with all it looked at. False: it was not there.
-- for: user
create or replace function livewell.stop_watching(p_session uuid) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_there boolean;
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_own_session(p_session, livewell.current_user_id());
    v_there := exists (select from livewell_private.session as s where s.id = p_session);
    perform livewell.close_sessions(array[p_session], clock_timestamp());
    return v_there;
end $$;
