-- Who calls, by the verified claims of the request and nothing else; refused when they name nobody, or not by a plain text. One whom
-- the claims call anonymous has `anon:` before its name, and nobody else may have.
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
    if jsonb_typeof(v_claims) = 'object' and v_user <> '' and (
        jsonb_typeof(v_claims -> 'sub') <> 'string' or length(v_user) > 200 or v_user ~ livewell_private.strange_characters()
    ) then
        raise exception using errcode = 'LWC02', message = 'nobody is signed in: the subject of the claims is no text of 1 to 200 visible characters',
            hint = 'sub is what whoever issues the token calls its user: a string';
    end if;
    if v_claims -> 'is_anonymous' = 'true' then
        v_user := 'anon:' || nullif(v_user, '');
    elsif livewell_private.is_anonymous(v_user) then
        v_user := null;
    end if;
    if jsonb_typeof(v_claims) is distinct from 'object' or coalesce(length(v_user), 0) not between 1 and 200 then
        raise exception using errcode = 'LWC02', message = 'nobody is signed in: the request has no claims with a subject',
            hint = 'set request.jwt.claims from a token that was verified';
    end if;
    return v_user;
exception
    when invalid_text_representation or untranslatable_character then
        raise exception using errcode = 'LWC02', message = 'nobody is signed in: the claims of the request are not JSON',
            hint = 'set request.jwt.claims from a token that was verified';
end $$;
