-- What is asked of a thing, field by field: null is the default again. Refuses what is no field of it.
-- for: internal
create or replace function livewell_private.asked_fields(p_thing livewell_private.declared_thing, p_name text, p_asked jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_fields constant jsonb := p_thing.defaults - p_thing.kept;
    v_unknown text;
begin
    if jsonb_typeof(p_asked) is distinct from 'object' then
        perform livewell_private.refuse_declared(
            p_thing.errcode, p_thing.thing, p_name, 'what is asked must be a JSON object of its fields'
        );
    end if;
    select f.field into v_unknown from jsonb_object_keys(p_asked) as f (field) where not v_fields ? f.field limit 1;
    if found then
        perform livewell_private.refuse_declared(
            p_thing.errcode, p_thing.thing, p_name, format('unknown field "%s"', v_unknown),
            'one of ' || (select string_agg(f.field, ', ' order by f.field) from jsonb_object_keys(v_fields) as f (field))
        );
    end if;
    return coalesce((
        select jsonb_object_agg(a.key, case a.value when 'null' then v_fields -> a.key else a.value end)
        from jsonb_each(p_asked) as a
    ), '{}');
end $$;
