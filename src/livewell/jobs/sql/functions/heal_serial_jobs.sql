-- Promotes the best jobs of every serial key that waits for nothing: promotions are lost when an enqueue and a finish cross.
-- for: service
create or replace function livewell.heal_serial_jobs()
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_keys text[];
begin
    perform livewell_private.require_primary();
    -- Steps from one key and lane to the next, so that a key with 100,000 jobs behind it costs one look.
    with recursive parked as (
        (select j.serial_key, j.lane_id from livewell_private.job_live as j
        where j.waiting_for = 'serial' order by j.serial_key, j.lane_id limit 1)
        union all
        select n.serial_key, n.lane_id from parked as w cross join lateral (
            select j.serial_key, j.lane_id from livewell_private.job_live as j
            where j.waiting_for = 'serial' and (j.serial_key, j.lane_id) > (w.serial_key, w.lane_id)
            order by j.serial_key, j.lane_id
            limit 1
        ) as n
    )
    -- Key by key; plain conditions may be planned as joins with all that is ready.
    select array_agg(distinct w.serial_key) into v_keys from parked as w
    where case
        when (
            select true from livewell_private.job_live as r where r.serial_key = w.serial_key and r.state = 'processing' limit 1
        ) then false
        when (
            select true from livewell_private.job_live as r
            where r.serial_key = w.serial_key and r.state = 'pending' and r.waiting_for is null and r.lane_id + 0 = w.lane_id
            order by r.serial_key, r.priority desc, r.due_at, r.id
            limit 1
        ) then false
        else true
    end;
    if v_keys is null then
        return 0;
    end if;
    perform livewell_private.wake_workers(livewell_private.promote_serial_jobs(v_keys));
    return cardinality(v_keys);
end $$;
