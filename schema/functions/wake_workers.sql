-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.wake_workers(p_kinds text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.notify('livewell_jobs', k.queue_group)
    from (select distinct k.queue_group from livewell.job_kind as k where k.kind = any (p_kinds)) as k
    where exists (select from livewell.worker as w where w.idle and k.queue_group = any (w.queue_groups));
end $function$;
