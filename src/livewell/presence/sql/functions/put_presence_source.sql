-- Makes one presence source as declared: adds it, or changes the fields that differ; answers with each field that is not the
-- same. The plan and the change are found by the same comparison.
-- for: internal
create or replace function livewell_private.put_presence_source(
    p_name text, p_changes jsonb, p_plan_only boolean, p_actor text, p_now timestamptz
) returns table (name text, change text, field text, old jsonb, new jsonb)
language plpgsql
set search_path = pg_catalog, pg_temp set intervalstyle = 'postgres' as $$
#variable_conflict use_column
declare
    v_known constant text[] := array['reads', 'every', 'enabled'];
    v_old livewell_private.presence_source;
    v_new livewell_private.presence_source;
    v_before jsonb;
    v_after jsonb;
    v_fields text[];
begin
    select s.* into v_old from livewell_private.presence_source as s where s.name = p_name for update;
    if jsonb_typeof(p_changes) is distinct from 'object' or exists (
        select from jsonb_object_keys(p_changes) as f (field) where not f.field = any (v_known)
    ) then
        raise exception using errcode = 'LWP07', message = format('presence source %s has a field that is not known', p_name),
            hint = 'one of ' || array_to_string(v_known, ', ');
    end if;
    v_new := jsonb_populate_record(v_old, p_changes);
    v_new.name := p_name;
    v_new.every := coalesce(v_new.every, interval '10 seconds');
    v_new.enabled := coalesce(v_new.enabled, true);
    perform livewell_private.check_presence_source(v_new.reads);
    v_before := case when v_old.name is null then '{}' else to_jsonb(v_old) end;
    v_after := to_jsonb(v_new);
    v_fields := array(select f.field from unnest(v_known) as f (field) where v_before -> f.field is distinct from v_after -> f.field);
    if v_fields = '{}' then
        return query select p_name, 'same'::text, null::text, null::jsonb, null::jsonb;
        return;
    end if;
    return query
    select p_name, case when v_old.name is null then 'add' else 'change' end, f.field, v_before -> f.field, v_after -> f.field
    from unnest(v_fields) as f (field);
    if p_plan_only then
        return;
    end if;
    insert into livewell_private.presence_source as s (name, reads, every, enabled, created_at)
    values (p_name, v_new.reads, v_new.every, v_new.enabled, p_now)
    on conflict on constraint presence_source_pkey
    do update set reads = excluded.reads, every = excluded.every, enabled = excluded.enabled, read_at = null;
    perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
        'event', case when v_old.name is null then 'presence_source_declared' else 'presence_source_changed' end,
        'table_name', 'presence_source', 'record_id', p_name,
        'operation', case when v_old.name is null then 'insert' else 'update' end,
        'old', nullif(v_before, '{}'), 'new', (select jsonb_object_agg(f.field, v_after -> f.field) from unnest(v_fields) as f (field)),
        'actor', p_actor
    )), p_now);
exception
    when check_violation or not_null_violation or invalid_text_representation or invalid_datetime_format or datetime_field_overflow then
        raise exception using errcode = 'LWP07', message = format('presence source %s cannot be so: %s', p_name, sqlerrm);
end $$;
