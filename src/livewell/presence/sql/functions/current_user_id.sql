-- Who calls, by the verified claims of the request and nothing else; refused when they name nobody. One whom the claims call anonymous
-- has `anon:` before its name, and nobody else may have.
-- for: user
create or replace function livewell.current_user_id() returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
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
end $$;
