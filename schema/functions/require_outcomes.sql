-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_outcomes(p_outcomes text[])
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;
