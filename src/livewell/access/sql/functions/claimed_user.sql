-- Who the verified claims of the request are of, as `livewell.current_user_id()` says it; null, and no refusal, when they name nobody.
-- for: internal
create or replace function livewell_private.claimed_user() returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
    v_user constant text := case when jsonb_typeof(v_claims -> 'sub') = 'string' then nullif(v_claims ->> 'sub', '') end;
begin
    if length(v_user) > 200 or v_user ~ livewell_private.strange_characters() then
        return null;
    end if;
    if v_claims -> 'is_anonymous' = 'true' then
        return case when length(v_user) <= 195 then 'anon:' || v_user end;
    end if;
    return case when not livewell_private.is_anonymous(v_user) then v_user end;
end $$;
