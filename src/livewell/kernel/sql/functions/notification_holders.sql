-- The three sessions whose transactions are open longest, of all databases: a listener among them holds the notification queue.
-- Who listens is nobody's to see, and since when only that of members of pg_read_all_stats.
-- for: internal
create or replace function livewell_private.notification_holders() returns text[]
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select array_agg(format('process %s of %s on %s%s', o.pid, o.usename, o.datname, ' since ' || date_trunc('second', o.xact_start))
        order by o.xact_start, o.pid)
    from (
        select a.pid, a.usename, a.datname, a.xact_start
        from pg_locks as l
        join pg_stat_activity as a on a.pid = l.pid
        where l.locktype = 'virtualxid' and l.granted and l.pid <> pg_backend_pid() and a.usename is not null
        order by a.xact_start, a.pid
        limit 3
    ) as o
$$;
