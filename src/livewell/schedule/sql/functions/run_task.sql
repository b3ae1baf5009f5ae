-- Takes a task, runs its SQL function and finishes it, in one call and one transaction: for pg_cron, outside cron and any
-- language. A run that fails is undone, recorded and answered, not raised; a schedule that cannot be read runs nothing.
-- for: service
create or replace function livewell.run_task(
    p_name text, p_force boolean default false, p_node text default null, p_now timestamptz default clock_timestamp()
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_node constant text := coalesce(nullif(p_node, ''), nullif(current_setting('application_name'), ''), session_user);
    v_began constant timestamptz := clock_timestamp();
    v_taken record;
    v_call text;
    v_result jsonb;
    v_error jsonb;
    v_state text;
    v_message text;
begin
    perform livewell_private.require_primary();
    begin
        select k.reason, k.run, k.token into strict v_taken from livewell.take_tasks(array[p_name], v_node, p_force, p_now) as k;
    exception
        when sqlstate 'LWT01' then raise;
        when query_canceled or others then
            return jsonb_build_object('ok', true, 'skipped', true, 'reason', 'schedule_read_error', 'error', sqlerrm);
    end;
    if v_taken.reason is not null then
        return jsonb_build_object('ok', true, 'skipped', true, 'reason', v_taken.reason);
    end if;
    if v_taken.run is null then
        raise exception using errcode = 'LWT05', message = format('task %s is run by a program, not by a function', p_name),
            hint = 'livewell tasks run, with the application that declares it';
    end if;
    begin
        perform livewell_private.check_task_function(v_taken.run);
        v_call := format('select %I.%I(p_now => $1)', split_part(v_taken.run, '.', 1), split_part(v_taken.run, '.', 2));
        if split_part(v_taken.run, '.', 1) in ('livewell', 'livewell_private') then
            execute v_call into v_result using p_now;
        else
            perform livewell_private.require_foreign('run_foreign_task');
            v_result := livewell_private.run_foreign_task(v_call, p_now);
        end if;
    exception
        when query_canceled or others then
            get stacked diagnostics v_state = returned_sqlstate, v_message = message_text;
            v_result := null;
            v_error := jsonb_build_object('type', v_state, 'message', v_message);
    end;
    perform livewell.finish_task(
        p_name, v_taken.token, case when v_error is null then 'succeeded' else 'failed' end, v_result, v_error,
        p_now + (clock_timestamp() - v_began)
    );
    if v_error is not null then
        return jsonb_build_object('ok', false, 'ran', true, 'error', v_error);
    end if;
    return jsonb_build_object('ok', true, 'ran', true, 'result', v_result);
end $$;
