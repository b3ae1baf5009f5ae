-- Makes the best parked job of each freed serial key ready, in every lane that has one; answers with the kinds that became
-- ready.
-- for: internal
create or replace function livewell_private.promote_serial_jobs(p_serial_keys text[])
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_kinds text[];
begin
    -- Steps from the best of one lane to the best of the next, so that a key with 100,000 jobs behind it costs one look a lane.
    with recursive best as (
        select k.serial_key, n.lane_id, n.id, n.kind from unnest(p_serial_keys) as k (serial_key)
        cross join lateral (
            select p.lane_id, p.id, p.kind from livewell_private.job_live as p
            where p.serial_key = k.serial_key and p.waiting_for = 'serial'
            order by p.lane_id, p.priority desc, p.due_at, p.id
            limit 1
            for update skip locked
        ) as n
        union all
        select b.serial_key, n.lane_id, n.id, n.kind from best as b
        cross join lateral (
            select p.lane_id, p.id, p.kind from livewell_private.job_live as p
            where p.serial_key = b.serial_key and p.waiting_for = 'serial' and p.lane_id > b.lane_id
            order by p.lane_id, p.priority desc, p.due_at, p.id
            limit 1
            for update skip locked
        ) as n
    ),
    promoted as (
        update livewell_private.job_live as j set waiting_for = null where j.id = any (array(select b.id from best as b))
    )
    select array_agg(distinct b.kind) into v_kinds from best as b;
    return v_kinds;
end $$;
