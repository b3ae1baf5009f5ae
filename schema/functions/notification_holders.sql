-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.notification_holders()
 RETURNS text[]
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
$function$;
