-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.list_keys(p_type text, p_after text DEFAULT NULL::text, p_limit integer DEFAULT 100)
 RETURNS TABLE(key text, active boolean, exchange text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_type livewell.data_type;
begin
    perform livewell.require_type(p_type);
    select t.* into strict v_type from livewell.data_type as t where t.name = p_type;
    return query
    select p.page ->> 0, (p.page ->> 1)::boolean, p.page ->> 2
    from jsonb_array_elements(livewell.ask_catalogue(
        v_type, 'select to_jsonb(array(select jsonb_build_array(c.key, c.active, c.exchange) from (%s) as c'
        ' where c.key > coalesce($1 ->> ''after'', '''') order by c.key limit ($1 ->> ''limit'')::bigint))',
        jsonb_build_object('after', p_after, 'limit', p_limit)
    )) with ordinality as p (page, at)
    order by p.at;
end $function$;

grant execute on function livewell.list_keys(text,text,integer) to livewell_service;
