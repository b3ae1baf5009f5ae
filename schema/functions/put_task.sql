-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.put_task(p_name text, p_asked jsonb, p_plan_only boolean, p_reason text, p_actor text, p_now timestamp with time zone)
 RETURNS livewell.declared_change
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare
    v_thing constant livewell.declared_thing := livewell.describe_thing('task', 'livewell.task', 'LWT03', array[
        'name', 'due_at', 'epoch', 'lease_token', 'lease_until', 'holder', 'started_at', 'last_success_at', 'last_failure_at',
        'last_error', 'failures', 'watched_since', 'created_at', 'updated_at'
    ]);
    v_old livewell.task;
    v_new livewell.task;
    v_change livewell.declared_change;
begin
    select t.* into v_old from livewell.task as t where t.name = p_name for update;
    v_new := livewell.task_from(v_thing, p_name, v_old, p_asked, p_now);
    v_change := livewell.compare_declared(v_thing, p_name, v_old, v_new);
    if p_plan_only or v_change.change = 'same' then
        return v_change;
    end if;
    if v_change.change = 'add' or v_new.enabled and not v_old.enabled then
        v_new.watched_since := p_now;
        v_new.due_at := case when v_new.cron is null then p_now else livewell.next_task_run(v_new, p_now) end;
    elsif v_change.fields && array['every', 'cron', 'time_zone'] then
        v_new.due_at := case
            when v_new.cron is null then least(v_old.due_at, p_now + v_new.every) else livewell.next_task_run(v_new, p_now)
        end;
    end if;
    perform livewell.write_declared(v_thing, array[v_new], p_now);
    update livewell.task as t set due_at = v_new.due_at, watched_since = v_new.watched_since where t.name = p_name;
    -- What stayed is not on record with what changed.
    perform livewell.audit_change(
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
    perform livewell.notify('livewell_tasks', p_name);
    return v_change;
exception
    when lock_not_available then
        raise exception using errcode = 'LWT06', message = format('task %s is running at this moment', p_name),
            hint = 'try again when its run is over';
    when check_violation then
        raise exception using errcode = 'LWT03', message = format('task %s cannot be so: %s', p_name, sqlerrm);
end $function$;
