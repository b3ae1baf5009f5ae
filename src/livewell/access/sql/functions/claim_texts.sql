-- What the verified claims of the request say under a name, as texts: one, those of a list, or none. What is not JSON says nothing.
-- for: internal
create or replace function livewell_private.claim_texts(p_claim text) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_said jsonb;
begin
    v_said := nullif(current_setting('request.jwt.claims', true), '')::jsonb -> p_claim;
    return array(
        select s.said #>> '{}'
        from jsonb_array_elements(case jsonb_typeof(v_said) when 'array' then v_said else jsonb_build_array(v_said) end) as s (said)
        where jsonb_typeof(s.said) in ('string', 'number', 'boolean')
    );
exception
    when invalid_text_representation or untranslatable_character then
        return '{}'::text[];
end $$;
