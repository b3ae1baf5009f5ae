-- Asks how full the server's notification queue is, which also frees what all have read, and a queue that was full. Above a
-- tenth it names who holds it; above a quarter nothing of ours is notified until it is below again.
-- for: internal
create or replace function livewell_private.task_notification_queue(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_used constant numeric := pg_notification_queue_usage();
    v_quiet constant boolean := v_used > 0.25;
    v_holders text[];
begin
    update livewell_private.notification_state as s set quiet = v_quiet, changed_at = p_now where s.quiet <> v_quiet;
    if v_used > 0.1 then
        v_holders := livewell_private.notification_holders();
        perform livewell_private.warn('kernel.notifications_pile_up', '', format(
            '%s %% of the notification queue is used%s: it is freed when every session that listens has left its transaction; open longest: %s',
            round(100 * v_used), case when v_quiet then ', nothing is notified' else '' end,
            coalesce(array_to_string(v_holders, '; '), 'nobody now')
        ), p_now);
    end if;
    return jsonb_build_object('used_percent', round(100 * v_used), 'quiet', case when v_quiet then 1 end, 'holders', to_jsonb(v_holders));
end $$;
