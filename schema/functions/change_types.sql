-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.change_types(p_declared jsonb, p_plan_only boolean, p_reason text, p_actor text, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(thing text, name text, change text, field text, old jsonb, new jsonb)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
    v_types livewell.data_type[];
    v_changes livewell.declared_change[];
begin
    perform livewell.require_primary();
    if jsonb_typeof(p_declared) is distinct from 'object' then
        raise exception using errcode = 'LWR03', message = 'types are declared as a JSON object: their fields by name';
    end if;
    perform livewell.take_lock('registry');
    select array_agg(a.type) filter (where (a.change).change <> 'same'), array_agg(a.change)
    into v_types, v_changes
    from livewell.types_as_asked(p_declared, p_now) as a;
    perform livewell.require_possible_types(v_types);
    if not p_plan_only then
        perform livewell.write_declared(livewell.declared_type(), v_types, p_now);
        perform livewell.audit_declared('data_type', 'type_added', 'type_changed', array(
            select row(c.thing, c.name, c.change, c.fields, livewell.masked_fetch(c.old), livewell.masked_fetch(c.new))::livewell.declared_change
            from unnest(v_changes) as c
        ), p_reason, p_actor, p_now);
    end if;
    return query select p.* from livewell.planned_changes(v_changes) as p;
exception
    when check_violation or not_null_violation or invalid_text_representation or invalid_datetime_format
        or datetime_field_overflow or interval_field_overflow or numeric_value_out_of_range or invalid_parameter_value then
        raise exception using errcode = 'LWR03', message = 'the types cannot be so: ' || sqlerrm;
end $function$;
