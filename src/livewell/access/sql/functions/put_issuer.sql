-- Makes one issuer as declared, or plans it; answers with what that changes. Whoever shows data is told.
-- for: internal
create or replace function livewell_private.put_issuer(
    p_name text, p_asked jsonb, p_plan_only boolean, p_actor text, p_now timestamptz
) returns livewell_private.declared_change
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_thing constant livewell_private.declared_thing := livewell_private.describe_thing(
        'issuer', 'livewell_private.issuer', 'LWC04', array['name', 'created_at', 'updated_at']
    );
    v_old livewell_private.issuer;
    v_new livewell_private.issuer;
    v_change livewell_private.declared_change;
    v_problem text;
begin
    select i.* into v_old from livewell_private.issuer as i where i.name = p_name for update;
    v_new := livewell_private.as_declared(
        v_thing, v_old, jsonb_build_object('name', p_name), livewell_private.asked_fields(v_thing, p_name, p_asked), p_now
    );
    v_problem := livewell_private.issuer_problem(v_new);
    if v_problem is not null then
        perform livewell_private.refuse_declared('LWC04', 'issuer', p_name, v_problem);
    end if;
    v_change := livewell_private.compare_declared(v_thing, p_name, v_old, v_new);
    if v_change.change <> 'same' and not p_plan_only then
        perform livewell_private.write_declared(v_thing, array[v_new], p_now);
        perform livewell_private.audit_declared('issuer', 'issuer_declared', 'issuer_changed', array[v_change], null, p_actor, p_now);
        perform livewell_private.tell_rights('{}');
    end if;
    return v_change;
exception
    when check_violation or not_null_violation or invalid_text_representation or invalid_datetime_format or datetime_field_overflow then
        raise exception using errcode = 'LWC04', message = format('issuer %s cannot be so: %s', p_name, sqlerrm);
end $$;
