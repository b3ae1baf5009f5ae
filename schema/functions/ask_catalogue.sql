-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.ask_catalogue(p_type livewell.data_type, p_query text, p_asked jsonb, p_keys text[] DEFAULT NULL::text[])
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_asked constant jsonb := p_asked || jsonb_build_object('type', p_type.name);
    v_answer jsonb;
begin
    if p_type.keys_table is not null then
        perform livewell.require_foreign('ask_foreign');
        return livewell.ask_foreign(format(p_query, livewell.catalogue_query(p_type)), v_asked, p_keys);
    end if;
    execute format(p_query, livewell.catalogue_query(p_type)) into v_answer using v_asked, p_keys;
    return v_answer;
end $function$;
