-- Begins the walks whose time has come, notes those that come while one is under way, and forgets those of types that are no
-- longer scheduled. A new or changed expression counts from now. An expression that cannot be read stops its own type only.
-- for: internal
create or replace function livewell_private.begin_walks(p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_type record;
    v_next timestamptz;
begin
    delete from livewell_private.scheduled_walk as w
    where not exists (select from livewell_private.known_types as t where t.name = w.data_type and t.enabled and t.cron is not null);
    for v_type in
        select t.name, t.cron, t.time_zone, w.cron = t.cron and w.time_zone = t.time_zone as known
        from livewell_private.known_types as t
        left join livewell_private.scheduled_walk as w on w.data_type = t.name
        where t.enabled and t.cron is not null
            and (w.data_type is null or w.next_at <= p_now or w.cron <> t.cron or w.time_zone <> t.time_zone)
        order by t.name
    loop
        begin
            v_next := coalesce(livewell.next_cron_time(v_type.cron, v_type.time_zone, p_now), 'infinity');
        exception when others then
            perform livewell_private.warn('freshness.schedule_failed', v_type.name, format('%s: %s', sqlstate, sqlerrm), p_now);
            continue;
        end;
        insert into livewell_private.scheduled_walk as w (data_type, cron, time_zone, next_at)
        values (v_type.name, v_type.cron, v_type.time_zone, v_next)
        on conflict (data_type) do update
        set cron = excluded.cron, time_zone = excluded.time_zone, next_at = excluded.next_at,
            wanted = w.wanted or (v_type.known and w.begun_at is not null),
            begun_at = case when v_type.known then coalesce(w.begun_at, p_now) else w.begun_at end,
            keys = case when v_type.known and w.begun_at is null then 0 else w.keys end,
            queued = case when v_type.known and w.begun_at is null then 0 else w.queued end;
    end loop;
end $$;
