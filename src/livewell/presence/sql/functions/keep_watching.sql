-- A user's heartbeat for a session of the user's own. False: it is gone, and what it looked at is watched anew.
-- for: user
create or replace function livewell.keep_watching(p_session uuid) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_own_session(p_session, livewell.current_user_id());
    return (livewell.renew_sessions(array[p_session], clock_timestamp()))[1] <> 'gone';
end $$;
