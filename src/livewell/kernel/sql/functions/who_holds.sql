-- Whose open transactions hold rows, in words for a person: by the transactions that are written in the rows, or else the oldest that
-- has written or locked anything in their table. Since when is known where the caller may read it.
-- for: internal
create or replace function livewell_private.who_holds(p_table regclass, p_transactions xid[]) returns text
language sql stable
set search_path = pg_catalog, pg_temp as $$
    with holders as (
        select l.pid, true as is_sure
        from pg_catalog.pg_locks as l
        where l.locktype = 'transactionid' and l.granted and l.transactionid = any (p_transactions) and l.pid <> pg_backend_pid()
        union all
        (
            select l.pid, false
            from pg_catalog.pg_locks as l
            join pg_catalog.pg_stat_activity as a on a.pid = l.pid
            where l.locktype = 'relation' and l.granted and l.relation = p_table and l.pid <> pg_backend_pid()
                and l.mode not in ('AccessShareLock', 'ShareUpdateExclusiveLock')
                and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database())
            order by a.xact_start nulls last, pg_catalog.age(a.backend_xid) desc nulls last, a.pid
            limit 1
        )
    )
    select coalesce(string_agg(distinct format(
        '%spid %s, login %s, application %s%s', case when not h.is_sure then 'probably ' end, h.pid, a.usename,
        coalesce(nullif(livewell_private.one_line(a.application_name, 60), ''), '(none)'),
        ', in a transaction since ' || to_char(a.xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"')
    ), '; '), 'somebody who has left')
    from holders as h
    left join pg_catalog.pg_stat_activity as a on a.pid = h.pid
    where h.is_sure or not exists (select from holders as s where s.is_sure)
$$;
