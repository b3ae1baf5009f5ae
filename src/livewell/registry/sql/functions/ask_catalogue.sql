-- Asks the catalogue of a type: Livewell's own table, or the user's with the rights that the user gave. $1 is what is asked, with the
-- name of the type, $2 are keys.
-- for: internal
create or replace function livewell_private.ask_catalogue(p_type livewell_private.data_type, p_query text, p_asked jsonb, p_keys text[] default null)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_asked constant jsonb := p_asked || jsonb_build_object('type', p_type.name);
    v_answer jsonb;
begin
    if p_type.keys_table is not null then
        perform livewell_private.require_foreign('ask_foreign');
        return livewell_private.ask_foreign(format(p_query, livewell_private.catalogue_query(p_type)), v_asked, p_keys);
    end if;
    execute format(p_query, livewell_private.catalogue_query(p_type)) into v_answer using v_asked, p_keys;
    return v_answer;
end $$;
