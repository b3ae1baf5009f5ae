-- Who calls, by the verified claims of the request and nothing else; refused when they name nobody.
-- for: user
create or replace function livewell.current_user_id() returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_user text;
begin
    v_user := nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub';
    if coalesce(length(v_user), 0) not between 1 and 200 then
        raise exception using errcode = 'LWP01', message = 'nobody is signed in: the request has no claims with a subject',
            hint = 'set request.jwt.claims from a token that was verified';
    end if;
    return v_user;
exception
    when invalid_text_representation then
        raise exception using errcode = 'LWP01', message = 'nobody is signed in: the claims of the request are not JSON',
            hint = 'set request.jwt.claims from a token that was verified';
end $$;
