-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.check_storage(p_type text, p_columns jsonb)
 RETURNS TABLE(severity text, problem text, message text, fix text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
    v_type livewell.data_type;
    v_bad text;
begin
    select min(c.key) into v_bad
    from jsonb_each(case when jsonb_typeof(p_columns) = 'object' then p_columns else '{"": null}' end) as c
    where coalesce(c.value ->> 'type', '')
        not in ('string', 'integer', 'number', 'boolean', 'object', 'array', 'timestamp', 'date', 'any');
    if v_bad is not null then
        raise exception using errcode = 'LWN02', message = format('what a model says of column "%s" cannot be so', v_bad),
            hint = 'an object: {"price": {"type": "number", "nullable": false}}';
    end if;
    perform livewell.require_type(p_type);
    select t.* into v_type from livewell.data_type as t where t.name = p_type;
    if v_type.table_name is null then
        return;
    end if;
    if livewell.find_relation(v_type.table_name) is null then
        return query select 'error', 'no_table', format('there is no table %s', v_type.table_name), 'create it';
        return;
    end if;
    return query
    select f.* from livewell.findings_on_columns(v_type, p_columns) as f
    union all
    select f.* from livewell.findings_on_key(v_type, p_columns) as f
    union all
    select f.* from livewell.findings_on_triggers(v_type) as f
    order by 1, 2, 3;
end $function$;

grant execute on function livewell.check_storage(text,jsonb) to livewell_service;
