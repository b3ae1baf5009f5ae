-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.stored_rows(p_type text, p_key text, p_limit integer DEFAULT 100)
 RETURNS SETOF jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_type livewell.data_type;
begin
    perform livewell.require_type(p_type);
    select t.* into v_type from livewell.data_type as t where t.name = p_type;
    if v_type.table_name is null then
        return query
        select r.value from livewell.record as r where r.data_type = p_type and r.key = p_key and r.fetched_at is not null;
        return;
    end if;
    return query execute format(
        'select to_jsonb(t) from %I.%I as t where t.%I = $1 order by t.%I desc nulls last limit $2',
        split_part(v_type.table_name, '.', 1), split_part(v_type.table_name, '.', 2), v_type.key_column, v_type.time_column
    ) using p_key, p_limit;
end $function$;

grant execute on function livewell.stored_rows(text,text,integer) to livewell_service;
