-- The id up to which every transaction that had drawn one has ended, judged at a snapshot's horizon.
-- for: internal
create or replace function livewell_private.audit_settled_up_to(p_horizon xid8) returns bigint
language sql stable set search_path = pg_catalog, pg_temp as $$
    select coalesce((
        select s.high_water from livewell_private.audit_seal s where s.ceiling <= p_horizon order by s.number desc limit 1
    ), 0)
$$;
