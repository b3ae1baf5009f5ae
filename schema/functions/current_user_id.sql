-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.current_user_id()
 RETURNS text
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_claims jsonb;
    v_user text;
begin
    v_claims := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
    v_user := v_claims ->> 'sub';
    if v_claims -> 'is_anonymous' = 'true' then
        v_user := 'anon:' || v_user;
    elsif livewell.is_anonymous(v_user) then
        v_user := null;
    end if;
    if coalesce(length(v_user), 0) not between 1 and 200 then
        raise exception using errcode = 'LWP01', message = 'nobody is signed in: the request has no claims with a subject',
            hint = 'set request.jwt.claims from a token that was verified';
    end if;
    return v_user;
exception
    when invalid_text_representation then
        raise exception using errcode = 'LWP01', message = 'nobody is signed in: the claims of the request are not JSON',
            hint = 'set request.jwt.claims from a token that was verified';
end $function$;

grant execute on function livewell.current_user_id() to livewell_user;
