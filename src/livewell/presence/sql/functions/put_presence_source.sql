-- Makes one presence source as declared, or plans it; answers with what that changes. What is changed is read at once.
-- for: internal
create or replace function livewell_private.put_presence_source(
    p_name text, p_asked jsonb, p_plan_only boolean, p_actor text, p_now timestamptz
) returns livewell_private.declared_change
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_thing constant livewell_private.declared_thing := livewell_private.describe_thing('presence source', 'livewell_private.presence_source', 'LWP07', array[
        'name', 'read_at', 'last_ok_at', 'silent_since', 'last_error', 'rows_read', 'rows_skipped', 'created_at', 'updated_at'
    ]);
    v_old livewell_private.presence_source;
    v_new livewell_private.presence_source;
    v_change livewell_private.declared_change;
begin
    select s.* into v_old from livewell_private.presence_source as s where s.name = p_name for update;
    v_new := livewell_private.as_declared(
        v_thing, v_old, jsonb_build_object('name', p_name), livewell_private.asked_fields(v_thing, p_name, p_asked), p_now
    );
    perform livewell_private.check_presence_source(v_new.reads);
    v_change := livewell_private.compare_declared(v_thing, p_name, v_old, v_new);
    if v_change.change <> 'same' and not p_plan_only then
        perform livewell_private.write_declared(v_thing, array[v_new], p_now);
        update livewell_private.presence_source as s set read_at = null where s.name = p_name;
        perform livewell_private.audit_declared(
            'presence_source', 'presence_source_declared', 'presence_source_changed', array[v_change], null, p_actor, p_now
        );
    end if;
    return v_change;
exception
    when check_violation or not_null_violation or invalid_text_representation or invalid_datetime_format or datetime_field_overflow then
        raise exception using errcode = 'LWP07', message = format('presence source %s cannot be so: %s', p_name, sqlerrm);
end $$;
