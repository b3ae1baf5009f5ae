-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.unknown_keys(p_types text[], p_keys text[])
 RETURNS TABLE(data_type text, key text)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_hashjoin TO 'on'
AS $function$
#variable_conflict use_column
declare
    v_type livewell.data_type;
begin
    for v_type in
        select t.* from livewell.data_type as t where t.keys_only_known and t.name = any (p_types) order by t.name
    loop
        begin
            return query
            select v_type.name, k.key
            from jsonb_array_elements_text(livewell.ask_catalogue(
                v_type, 'select coalesce(jsonb_agg(k.key order by k.key), ''[]'') from (select distinct k.key from unnest($2) as k (key)) as k'
                ' where not exists (select from (%s) as c where c.key = k.key)',
                '{}', array(select a.key from unnest(p_types, p_keys) as a (data_type, key) where a.data_type = v_type.name)
            )) with ordinality as k (key, at) order by k.at;
        exception
            when undefined_table or undefined_column or insufficient_privilege or invalid_schema_name then
                raise exception using errcode = 'LWR07', message = format('the keys of type %s cannot be looked up', v_type.name),
                    hint = format('livewell types check %s', v_type.name);
        end;
    end loop;
end $function$;
