-- Makes one task as declared: adds it, or changes the fields that differ; answers with each field that is not the same.
-- The plan and the change are found by the same comparison. A changed schedule counts from now. A task whose function runs
-- at this moment is not waited for long.
-- for: internal
create or replace function livewell_private.put_task(
    p_name text, p_changes jsonb, p_plan_only boolean, p_reason text, p_actor text, p_now timestamptz
) returns table (name text, change text, field text, old jsonb, new jsonb)
language plpgsql
set search_path = pg_catalog, pg_temp set intervalstyle = 'postgres' set lock_timeout = '2s' as $$
#variable_conflict use_column
declare
    v_old livewell_private.task;
    v_new livewell_private.task;
    v_before jsonb;
    v_after jsonb;
    v_fields text[];
begin
    select t.* into v_old from livewell_private.task as t where t.name = p_name for update;
    v_new := livewell_private.task_from(p_name, v_old, p_changes, p_now);
    v_before := case when v_old.name is null then '{}' else to_jsonb(v_old) end;
    v_after := to_jsonb(v_new);
    v_fields := array(
        select f.field from unnest(livewell_private.task_fields()) with ordinality as f (field, position)
        where v_before -> f.field is distinct from nullif(v_after -> f.field, case when v_old.name is null then 'null'::jsonb end) order by f.position
    );
    return query
    select p_name, case when v_old.name is null then 'add' else 'change' end, f.field, v_before -> f.field, v_after -> f.field
    from unnest(v_fields) as f (field);
    if v_fields = '{}' then
        return query select p_name, 'same'::text, null::text, null::jsonb, null::jsonb;
    end if;
    if p_plan_only or v_fields = '{}' then
        return;
    end if;
    if v_old.name is null then
        v_new.due_at := case when v_new.cron is null then p_now else livewell_private.next_task_run(v_new, p_now) end;
        v_new.epoch := 0;
        v_new.failures := 0;
        v_new.created_at := p_now;
        v_new.watched_since := p_now;
        v_new.updated_at := p_now;
        insert into livewell_private.task select (v_new).*;
    else
        if v_fields && array['every', 'cron', 'time_zone'] or v_new.enabled and not v_old.enabled then
            v_new.due_at := case
                when v_new.cron is null and v_new.enabled and not v_old.enabled then p_now
                when v_new.cron is null then least(v_old.due_at, p_now + v_new.every)
                else livewell_private.next_task_run(v_new, p_now)
            end;
        end if;
        update livewell_private.task as t set
            description = v_new.description, run = v_new.run, every = v_new.every, cron = v_new.cron,
            time_zone = v_new.time_zone, jitter = v_new.jitter, backoff_min = v_new.backoff_min,
            backoff_max = v_new.backoff_max, lease = v_new.lease, time_limit = v_new.time_limit,
            late_after = v_new.late_after, enabled = v_new.enabled, due_at = v_new.due_at, updated_at = p_now,
            watched_since = case when v_new.enabled and not v_old.enabled then p_now else t.watched_since end
        where t.name = p_name;
    end if;
    perform livewell_private.audit_task_change(
        case
            when v_old.name is null then 'task_declared'
            when v_fields <> '{enabled}' then 'task_changed'
            when v_new.enabled then 'task_enabled'
            else 'task_disabled'
        end,
        p_name,
        case when v_old.name is not null then (select jsonb_object_agg(f.field, v_before -> f.field) from unnest(v_fields) as f (field)) end,
        (select jsonb_object_agg(f.field, v_after -> f.field) from unnest(v_fields) as f (field)),
        p_reason, p_actor, p_now
    );
    perform livewell_private.notify('livewell_tasks', p_name);
exception
    when lock_not_available then
        raise exception using errcode = 'LWT06', message = format('task %s is running at this moment', p_name),
            hint = 'try again when its run is over';
    when check_violation then
        raise exception using errcode = 'LWT03', message = format('task %s cannot be so: %s', p_name, sqlerrm);
end $$;
