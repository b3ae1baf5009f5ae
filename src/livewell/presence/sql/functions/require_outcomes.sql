-- Turns what a batch answers for one user into a refusal of the whole, where a part was not done.
-- for: internal
create or replace function livewell_private.require_outcomes(p_outcomes text[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    if 'too_many' = any (p_outcomes) then
        raise exception using errcode = 'LWP05', message = 'you have too many sessions open, or too many items in this one',
            hint = 'close or unwatch some; presence.sessions_per_user, presence.items_per_session';
    elsif 'taken' = any (p_outcomes) then
        raise exception using errcode = 'LWP04', message = 'the session is not yours',
            hint = 'make a session id of your own: gen_random_uuid()';
    elsif 'gone' = any (p_outcomes) then
        raise exception using errcode = 'LWP06', message = 'the session ended meanwhile', hint = 'watch again';
    elsif 'busy' = any (p_outcomes) then
        raise exception using errcode = 'LWP08', message = 'somebody holds the session or an item in a transaction that stays open',
            hint = 'try again; livewell warnings says who it is';
    end if;
end $$;
