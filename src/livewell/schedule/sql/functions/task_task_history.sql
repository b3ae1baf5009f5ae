-- Forgets runs past their retention, some at a time; asks to be run again at once while there are more.
-- for: internal
create or replace function livewell_private.task_task_history(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_batch constant integer := 5000;
    v_gone integer;
begin
    delete from livewell_private.task_run as r
    where r.id = any (array(
        select o.id from livewell_private.task_run as o
        where o.ended_at < p_now - livewell.setting_interval('schedule.history_retention')
        order by o.ended_at
        limit v_batch
    ));
    get diagnostics v_gone = row_count;
    return jsonb_build_object('forgotten', v_gone, 'again_in', case when v_gone = v_batch then '0 seconds' end);
end $$;
