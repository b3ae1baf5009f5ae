-- A task as it would be with some fields changed, checked; null sets a field back to its default. Seed values where nothing
-- is said: every 10 to 15 minutes, 20 to 40 minutes after a failure.
-- for: internal
create or replace function livewell_private.task_from(
    p_thing livewell_private.declared_thing, p_name text, p_old livewell_private.task, p_asked jsonb, p_now timestamptz
) returns livewell_private.task
language plpgsql
set search_path = pg_catalog, pg_temp set intervalstyle = 'postgres' as $$
declare
    v_new livewell_private.task;
begin
    perform livewell_private.asked_fields(p_thing, p_name, p_asked);
    v_new := jsonb_populate_record(p_old, p_asked);
    v_new.name := p_name;
    if p_asked ->> 'every' is not null and not p_asked ? 'cron' then
        v_new.cron := null;
    elsif p_asked ->> 'cron' is not null and not p_asked ? 'every' then
        v_new.every := null;
    end if;
    if v_new.every is null and v_new.cron is null then
        v_new.every := interval '10 minutes';
        v_new.jitter := coalesce(v_new.jitter, interval '5 minutes');
    end if;
    -- What follows from the schedule follows it, unless it is said.
    if (v_new.every, v_new.cron, v_new.time_zone, v_new.jitter) is distinct from (p_old.every, p_old.cron, p_old.time_zone, p_old.jitter)
    then
        v_new.late_after := case when p_asked ? 'late_after' then v_new.late_after end;
        v_new.backoff_min := case when p_asked ?| array['backoff_min', 'backoff_max'] then v_new.backoff_min end;
        v_new.backoff_max := case when p_asked ?| array['backoff_min', 'backoff_max'] then v_new.backoff_max end;
    end if;
    v_new.backoff_min := coalesce(v_new.backoff_min, least(2 * v_new.every, v_new.backoff_max, interval '20 minutes'));
    v_new.backoff_max := coalesce(
        v_new.backoff_max, greatest(least(4 * v_new.every, interval '40 minutes'), v_new.backoff_min)
    );
    -- What is not said by now is the default of its column.
    v_new := livewell_private.as_declared(p_thing, null::livewell_private.task, '{}', jsonb_strip_nulls(to_jsonb(v_new)), p_now);
    perform livewell_private.check_task(v_new, p_now);
    v_new.late_after := coalesce(
        v_new.late_after,
        coalesce(v_new.every, livewell_private.expected_gap(v_new.cron, v_new.time_zone, p_now)) + v_new.jitter + interval '10 minutes'
    );
    return v_new;
exception
    when invalid_text_representation or invalid_datetime_format or datetime_field_overflow or interval_field_overflow
        or invalid_parameter_value then
        raise exception using errcode = 'LWT03', message = format('task %s cannot be so: %s', p_name, sqlerrm);
end $$;
