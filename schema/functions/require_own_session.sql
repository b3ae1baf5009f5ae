-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_own_session(p_session uuid, p_user text)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if p_session is null then
        raise exception using errcode = 'LWP02', message = 'a session has an id', hint = 'make one: gen_random_uuid()';
    end if;
    if exists (select from livewell.session as s where s.id = p_session and s.user_id <> p_user) then
        raise exception using errcode = 'LWP04', message = format('session %s is not yours', p_session),
            hint = 'make a session id of your own: gen_random_uuid()';
    end if;
end $function$;
