-- Which of some keys of a type have something stored, whoever may see it.
-- for: service
create or replace function livewell.stored_keys(p_type text, p_keys text[]) returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_type(p_type);
    perform livewell_private.require_keys_at_once(p_type, p_keys);
    return array(
        select r.key from unnest(livewell_private.rows_of_keys(
            livewell_private.type_named(p_type), livewell_private.keys_among(p_type, p_keys), 1
        )) as r
    );
end $$;
