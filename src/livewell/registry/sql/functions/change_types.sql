-- Plans, and unless only the plan is wanted makes, what a declaration changes: all of it or, when one type cannot be written,
-- nothing. The plan and the change are found by the same comparison; whether the types can be live is asked by the callers.
-- for: owner
create or replace function livewell.change_types(
    p_declared jsonb, p_plan_only boolean, p_reason text, p_actor text, p_now timestamptz default clock_timestamp()
) returns table (thing text, name text, change text, field text, old jsonb, new jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_types livewell_private.data_type[];
    v_changes livewell_private.declared_change[];
begin
    perform livewell_private.require_primary();
    if jsonb_typeof(p_declared) is distinct from 'object' then
        raise exception using errcode = 'LWR03', message = 'types are declared as a JSON object: their fields by name';
    end if;
    perform livewell_private.take_lock('registry');
    select array_agg(a.type) filter (where (a.change).change <> 'same'), array_agg(a.change)
    into v_types, v_changes
    from livewell_private.types_as_asked(p_declared, p_now) as a;
    perform livewell_private.require_possible_types(v_types);
    if not p_plan_only then
        perform livewell_private.write_declared(livewell_private.declared_type(), v_types, p_now);
        perform livewell_private.audit_declared('data_type', 'type_added', 'type_changed', array(
            select row(c.thing, c.name, c.change, c.fields, livewell_private.masked_fetch(c.old), livewell_private.masked_fetch(c.new))::livewell_private.declared_change
            from unnest(v_changes) as c
        ), p_reason, p_actor, p_now);
    end if;
    return query select p.* from livewell_private.planned_changes(v_changes) as p;
exception
    when check_violation or not_null_violation or invalid_text_representation or invalid_datetime_format
        or datetime_field_overflow or interval_field_overflow or numeric_value_out_of_range or invalid_parameter_value then
        raise exception using errcode = 'LWR03', message = 'the types cannot be so: ' || sqlerrm;
end $$;
