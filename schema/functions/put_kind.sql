-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.put_kind(p_kind text, p_asked jsonb, p_plan_only boolean, p_reason text, p_actor text, p_now timestamp with time zone)
 RETURNS livewell.declared_change
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_thing constant livewell.declared_thing := livewell.declared_kind();
    v_old livewell.job_kind;
    v_new livewell.job_kind;
    v_change livewell.declared_change;
begin
    if p_kind !~ '^[a-z][a-z0-9_.-]{0,99}$' then
        perform livewell.refuse_declared('LWJ06', 'kind', p_kind, 'its name must be of small letters, digits, ., - and _');
    end if;
    select k.* into v_old from livewell.job_kind as k where k.kind = p_kind for update;
    v_new := livewell.as_declared(
        v_thing, v_old, jsonb_build_object('kind', p_kind), livewell.asked_fields(v_thing, p_kind, p_asked), p_now
    );
    v_change := livewell.compare_declared(v_thing, p_kind, v_old, v_new);
    if v_change.change <> 'same' and not p_plan_only then
        perform livewell.write_declared(v_thing, array[v_new], p_now);
        perform livewell.audit_declared('job_kind', 'kind_declared', 'kind_changed', array[v_change], p_reason, p_actor, p_now);
    end if;
    return v_change;
exception
    when check_violation or invalid_text_representation or invalid_datetime_format or datetime_field_overflow
        or interval_field_overflow or numeric_value_out_of_range then
        raise exception using errcode = 'LWJ06', message = format('kind %s cannot be so: %s', p_kind, sqlerrm),
            detail = format('kind %s', p_kind);
end $function$;
