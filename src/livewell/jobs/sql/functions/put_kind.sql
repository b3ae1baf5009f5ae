-- Makes one kind as declared, or plans it; answers with what that changes.
-- for: internal
create or replace function livewell_private.put_kind(
    p_kind text, p_asked jsonb, p_plan_only boolean, p_reason text, p_actor text, p_now timestamptz
) returns livewell_private.declared_change
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_thing constant livewell_private.declared_thing := livewell_private.declared_kind();
    v_old livewell_private.job_kind;
    v_new livewell_private.job_kind;
    v_change livewell_private.declared_change;
begin
    if p_kind !~ '^[a-z][a-z0-9_.-]{0,99}$' then
        perform livewell_private.refuse_declared('LWJ06', 'kind', p_kind, 'its name must be of small letters, digits, ., - and _');
    end if;
    select k.* into v_old from livewell_private.job_kind as k where k.kind = p_kind for update;
    v_new := livewell_private.as_declared(
        v_thing, v_old, jsonb_build_object('kind', p_kind), livewell_private.asked_fields(v_thing, p_kind, p_asked), p_now
    );
    v_change := livewell_private.compare_declared(v_thing, p_kind, v_old, v_new);
    if v_change.change <> 'same' and not p_plan_only then
        perform livewell_private.write_declared(v_thing, array[v_new], p_now);
        perform livewell_private.audit_declared('job_kind', 'kind_declared', 'kind_changed', array[v_change], p_reason, p_actor, p_now);
    end if;
    return v_change;
exception
    when check_violation or invalid_text_representation or invalid_datetime_format or datetime_field_overflow
        or interval_field_overflow or numeric_value_out_of_range then
        raise exception using errcode = 'LWJ06', message = format('kind %s cannot be so: %s', p_kind, sqlerrm),
            detail = format('kind %s', p_kind);
end $$;
