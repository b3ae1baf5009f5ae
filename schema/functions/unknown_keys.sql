-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.unknown_keys(p_types text[], p_keys text[])
 RETURNS TABLE(data_type text, key text)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_hashjoin TO 'on'
AS $function$
declare
    v_type livewell.data_type;
begin
    for v_type in
        select t.* from livewell.data_type as t where t.keys_only_known and t.name = any (p_types) order by t.name
    loop
        begin
            for data_type, key in execute format(
                'select $1, k.key from (select distinct k.key from unnest($2, $3) as k (data_type, key) where k.data_type = $1) as k'
                ' where not exists (select from (%s) as c where c.key = k.key) order by k.key',
                livewell.catalogue_query(v_type)
            ) using v_type.name, p_types, p_keys loop
                return next;
            end loop;
        exception
            when undefined_table or undefined_column or insufficient_privilege or invalid_schema_name then
                raise exception using errcode = 'LWR07', message = format('the keys of type %s cannot be looked up', v_type.name),
                    hint = format('livewell types check %s', v_type.name);
        end;
    end loop;
end $function$;
