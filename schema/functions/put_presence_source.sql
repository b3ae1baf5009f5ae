-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.put_presence_source(p_name text, p_asked jsonb, p_plan_only boolean, p_actor text, p_now timestamp with time zone)
 RETURNS livewell.declared_change
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_thing constant livewell.declared_thing := livewell.describe_thing('presence source', 'livewell.presence_source', 'LWP07', array[
        'name', 'read_at', 'last_ok_at', 'silent_since', 'last_error', 'rows_read', 'rows_skipped', 'created_at', 'updated_at'
    ]);
    v_old livewell.presence_source;
    v_new livewell.presence_source;
    v_change livewell.declared_change;
begin
    select s.* into v_old from livewell.presence_source as s where s.name = p_name for update;
    v_new := livewell.as_declared(
        v_thing, v_old, jsonb_build_object('name', p_name), livewell.asked_fields(v_thing, p_name, p_asked), p_now
    );
    perform livewell.check_presence_source(v_new.reads);
    v_change := livewell.compare_declared(v_thing, p_name, v_old, v_new);
    if v_change.change <> 'same' and not p_plan_only then
        perform livewell.write_declared(v_thing, array[v_new], p_now);
        update livewell.presence_source as s set read_at = null where s.name = p_name;
        perform livewell.audit_declared(
            'presence_source', 'presence_source_declared', 'presence_source_changed', array[v_change], null, p_actor, p_now
        );
    end if;
    return v_change;
exception
    when check_violation or not_null_violation or invalid_text_representation or invalid_datetime_format or datetime_field_overflow then
        raise exception using errcode = 'LWP07', message = format('presence source %s cannot be so: %s', p_name, sqlerrm);
end $function$;
