-- Tunes a kind while everything runs; only the named fields change, null sets a field back to its default.
-- for: service
create or replace function livewell.set_kind(
    p_kind text, p_changes jsonb, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_fields constant text[] := array[
        'queue_group', 'description', 'retries', 'backoff_first', 'backoff_max', 'lease', 'time_limit', 'concurrency',
        'default_priority', 'payload_schema'
    ];
    v_old livewell_private.job_kind;
    v_new livewell_private.job_kind;
    v_unknown text;
begin
    perform livewell_private.require_primary();
    if jsonb_typeof(p_changes) is distinct from 'object' then
        raise exception using errcode = 'LWJ06', message = 'the changes of a kind must be a JSON object of its fields';
    end if;
    select f.field into v_unknown from jsonb_object_keys(p_changes) as f (field) where not f.field = any (v_fields) limit 1;
    if found then
        raise exception using errcode = 'LWJ06', message = format('a kind has no field "%s"', v_unknown),
            hint = 'one of ' || array_to_string(v_fields, ', ');
    end if;
    select k.* into v_old from livewell_private.job_kind as k where k.kind = p_kind for update;
    if not found then
        raise exception using errcode = 'LWJ02', message = format('unknown kind %s', p_kind), hint = 'livewell kinds list';
    end if;
    v_new := jsonb_populate_record(v_old, p_changes);
    v_new.queue_group := coalesce(v_new.queue_group, 'general');
    v_new.description := coalesce(v_new.description, '');
    v_new.retries := coalesce(v_new.retries, 3);
    v_new.backoff_first := coalesce(v_new.backoff_first, interval '10 seconds');
    v_new.backoff_max := coalesce(v_new.backoff_max, interval '1 hour');
    v_new.default_priority := coalesce(v_new.default_priority, 5);
    if v_new is not distinct from v_old then
        return false;
    end if;
    update livewell_private.job_kind as k set
        queue_group = v_new.queue_group, description = v_new.description, retries = v_new.retries,
        backoff_first = v_new.backoff_first, backoff_max = v_new.backoff_max, lease = v_new.lease,
        time_limit = v_new.time_limit, concurrency = v_new.concurrency, default_priority = v_new.default_priority,
        payload_schema = v_new.payload_schema, updated_at = p_now
    where k.kind = p_kind;
    perform livewell_private.audit_kind_change(
        'kind_changed', p_kind, to_jsonb(v_old) - 'updated_at', to_jsonb(v_new) - 'updated_at', p_reason, p_actor, p_now
    );
    return true;
exception
    when check_violation or invalid_text_representation or invalid_datetime_format or numeric_value_out_of_range then
        raise exception using errcode = 'LWJ06', message = format('kind %s cannot be changed so: %s', p_kind, sqlerrm);
end $$;
