-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_notification_queue(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_used constant numeric := pg_notification_queue_usage();
    v_quiet constant boolean := v_used > 0.25;
    v_holders text[];
begin
    update livewell.notification_state as s set quiet = v_quiet, changed_at = p_now where s.quiet <> v_quiet;
    if v_used > 0.1 then
        v_holders := livewell.notification_holders();
        perform livewell.warn('kernel.notifications_pile_up', '', format(
            '%s %% of the notification queue is used%s: it is freed when every session that listens has left its transaction; open longest: %s',
            round(100 * v_used), case when v_quiet then ', nothing is notified' else '' end,
            coalesce(array_to_string(v_holders, '; '), 'nobody now')
        ), p_now);
    end if;
    return jsonb_build_object('used_percent', round(100 * v_used), 'quiet', case when v_quiet then 1 end, 'holders', to_jsonb(v_holders));
end $function$;
