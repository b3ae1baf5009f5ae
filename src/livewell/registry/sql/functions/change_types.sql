-- Plans, and unless only the plan is wanted makes, what a declaration changes: all of it or, when one type cannot be written,
-- nothing. The plan and the change are found by the same comparison; whether the types can be live is asked by the callers.
-- for: owner
create or replace function livewell.change_types(
    p_declared jsonb, p_plan_only boolean, p_reason text, p_actor text, p_now timestamptz default clock_timestamp()
) returns table (thing text, name text, change text, field text, old jsonb, new jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set intervalstyle = 'postgres' as $$
#variable_conflict use_column
declare
    v_types livewell_private.data_type[];
    v_changes jsonb;
begin
    perform livewell_private.require_primary();
    if jsonb_typeof(p_declared) is distinct from 'object' then
        raise exception using errcode = 'LWR03', message = 'types are declared as a JSON object: their fields by name';
    end if;
    perform livewell_private.take_lock('registry');
    select array_agg(t) into v_types from livewell_private.types_as_asked(p_declared, p_now) as t;
    select jsonb_agg(jsonb_build_object('name', n.name, 'old', o.content, 'new', n.content, 'change', case
        when o.content is null then 'add' when livewell_private.same_type(o.content, n.content) then 'same' else 'change'
    end) order by n.name)
    into v_changes
    from (select t.name, livewell_private.type_content(t) as content from unnest(v_types) as t) as n
    left join (select t.name, livewell_private.type_content(t) as content from livewell_private.data_type as t) as o on o.name = n.name;
    perform livewell_private.require_possible_types(array(
        select t from unnest(v_types) as t
        where t.name in (select c.name from jsonb_to_recordset(v_changes) as c (name text, change text) where c.change <> 'same')
    ));
    if not p_plan_only then
        perform livewell_private.put_types(v_types, p_now);
        perform livewell_private.audit_types(v_changes, p_reason, p_actor, p_now);
    end if;
    return query
    select 'type', c.name, c.change, f.key, case when c.change = 'change' then c.old -> f.key end,
        case c.change when 'change' then c.new -> f.key when 'add' then c.new end
    from jsonb_to_recordset(v_changes) as c (name text, change text, old jsonb, new jsonb)
    left join lateral jsonb_object_keys(c.new) as f (key)
        on c.change = 'change' and not livewell_private.same_type(jsonb_build_object(f.key, c.old -> f.key), jsonb_build_object(f.key, c.new -> f.key))
    order by c.name, f.key;
exception
    when check_violation or not_null_violation or invalid_text_representation or invalid_datetime_format
        or datetime_field_overflow or interval_field_overflow or numeric_value_out_of_range or invalid_parameter_value then
        raise exception using errcode = 'LWR03', message = 'the types cannot be so: ' || sqlerrm;
end $$;
