-- Makes one task as declared, or plans it; answers with what that changes. A changed schedule counts from now. A task whose
-- function runs at this moment is not waited for long.
-- for: internal
create or replace function livewell_private.put_task(
    p_name text, p_asked jsonb, p_plan_only boolean, p_reason text, p_actor text, p_now timestamptz
) returns livewell_private.declared_change
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
    v_thing constant livewell_private.declared_thing := livewell_private.describe_thing('task', 'livewell_private.task', 'LWT03', array[
        'name', 'due_at', 'epoch', 'lease_token', 'lease_until', 'holder', 'started_at', 'last_success_at', 'last_failure_at',
        'last_error', 'failures', 'watched_since', 'created_at', 'updated_at'
    ]);
    v_old livewell_private.task;
    v_new livewell_private.task;
    v_change livewell_private.declared_change;
begin
    select t.* into v_old from livewell_private.task as t where t.name = p_name for update;
    v_new := livewell_private.task_from(v_thing, p_name, v_old, p_asked, p_now);
    v_change := livewell_private.compare_declared(v_thing, p_name, v_old, v_new);
    if p_plan_only or v_change.change = 'same' then
        return v_change;
    end if;
    if v_change.change = 'add' or v_new.enabled and not v_old.enabled then
        v_new.watched_since := p_now;
        v_new.due_at := case when v_new.cron is null then p_now else livewell_private.next_task_run(v_new, p_now) end;
    elsif v_change.fields && array['every', 'cron', 'time_zone'] then
        v_new.due_at := case
            when v_new.cron is null then least(v_old.due_at, p_now + v_new.every) else livewell_private.next_task_run(v_new, p_now)
        end;
    end if;
    perform livewell_private.write_declared(v_thing, array[v_new], p_now);
    update livewell_private.task as t set due_at = v_new.due_at, watched_since = v_new.watched_since where t.name = p_name;
    -- What stayed is not on record with what changed.
    perform livewell_private.audit_change(
        case
            when v_change.change = 'add' then 'task_declared'
            when v_change.fields <> '{enabled}' then 'task_changed'
            when v_new.enabled then 'task_enabled'
            else 'task_disabled'
        end,
        'task', p_name,
        (select jsonb_object_agg(f.key, f.value) from jsonb_each(v_change.old) as f where f.key = any (v_change.fields)),
        (
            select jsonb_object_agg(f.key, f.value) from jsonb_each(v_change.new) as f
            where f.key = any (v_change.fields) or v_change.change = 'add' and f.value <> 'null'
        ),
        p_reason, p_actor, p_now
    );
    perform livewell_private.notify('livewell_tasks', p_name);
    return v_change;
exception
    when lock_not_available then
        raise exception using errcode = 'LWT06', message = format('task %s is running at this moment', p_name),
            hint = 'try again when its run is over';
    when check_violation then
        raise exception using errcode = 'LWT03', message = format('task %s cannot be so: %s', p_name, sqlerrm);
end $$;
