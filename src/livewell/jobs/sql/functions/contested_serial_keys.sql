-- Of the serial keys of locked candidates, those that are left to a rival, who holds another ready job of the key. Of two that see
-- each other the one that wrote first goes on: what it found was there before, so that the other sees it. Who had written
-- before it looked for candidates cannot know that, and yields. The unique index on running keys stands behind it.
-- for: internal
create or replace function livewell_private.contested_serial_keys(p_places tid[], p_others tid[], p_wrote_before boolean)
returns text[]
language sql
set search_path = pg_catalog, pg_temp as $$
    with free as materialized (
        select r.ctid from livewell_private.job_live as r
        where r.ctid = any (p_others) and r.state = 'pending' and r.waiting_for is null
        for update skip locked
    )
    select array_agg(distinct r.serial_key)
    from livewell_private.job_live as r
    join livewell_private.job_live as j on j.serial_key = r.serial_key and j.ctid = any (p_places)
    where r.ctid = any (p_others) and r.state = 'pending' and r.waiting_for is null and r.ctid not in (select f.ctid from free as f)
        and (p_wrote_before or age(r.xmax) >= age(j.xmax))
$$;
