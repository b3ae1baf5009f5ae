-- Notifies only when a worker of the kinds' groups is marked idle: a NOTIFY makes commits queue behind each other.
-- for: internal
create or replace function livewell_private.wake_workers(p_kinds text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.notify('livewell_jobs', k.queue_group)
    from (select distinct k.queue_group from livewell_private.job_kind as k where k.kind = any (p_kinds)) as k
    where exists (select from livewell_private.worker as w where w.idle and k.queue_group = any (w.queue_groups));
end $$;
