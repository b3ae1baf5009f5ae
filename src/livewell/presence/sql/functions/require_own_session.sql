-- Refuses a session of another user, for functions that users call.
-- for: internal
create or replace function livewell_private.require_own_session(p_session uuid, p_user text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    if p_session is null then
        raise exception using errcode = 'LWP02', message = 'a session has an id', hint = 'make one: gen_random_uuid()';
    end if;
    if exists (select from livewell_private.session as s where s.id = p_session and s.user_id <> p_user) then
        raise exception using errcode = 'LWP04', message = format('session %s is not yours', p_session),
            hint = 'make a session id of your own: gen_random_uuid()';
    end if;
end $$;
