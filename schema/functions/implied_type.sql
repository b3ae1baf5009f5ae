-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.implied_type(p_thing livewell.declared_thing, p_old livewell.data_type, p_new livewell.data_type, p_asked jsonb)
 RETURNS livewell.data_type
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_type livewell.data_type := p_new;
begin
    if (p_old).fetch_call is not null and (p_new).fetch_call is null then
        v_type := jsonb_populate_record(p_new, (
            select jsonb_object_agg(d.key, d.value)
            from jsonb_each(p_thing.defaults) as d
            where d.key in ('fields', 'model', 'extra', 'keys_per_request', 'source_rule', 'source_time_column')
                and not p_asked ? d.key
        ));
    end if;
    if not p_asked ? 'source_time_column'
        and (v_type.source_time_column is null or v_type.source_time_column = livewell.source_time_field((p_old).fields))
    then
        v_type.source_time_column := case when v_type.table_name is not null then livewell.source_time_field(v_type.fields) end;
    end if;
    return v_type;
end $function$;
