-- Parks ready jobs that must wait for their serial key: it runs already, or a better job of the key is ready in their lane.
-- The ids are of rows this transaction has written, so that nobody changes them meanwhile.
-- for: internal
create or replace function livewell_private.park_behind_serial_keys(p_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_sort = off set jit = off as $$
begin
    with mine as materialized (
        select j.id, j.serial_key, j.lane_id, j.waiting_for, row_number() over (
            partition by j.serial_key, j.lane_id, j.waiting_for order by j.priority desc, j.due_at, j.id
        ) as place
        from livewell_private.job_live as j where j.id = any (p_ids)
    )
    update livewell_private.job_live as j set waiting_for = 'serial'
    where j.id = any (array(
        select m.id from mine as m
        where m.serial_key is not null and m.waiting_for is null and (
            m.place > 1 or (
                select true from livewell_private.job_live as r where r.serial_key = m.serial_key and r.state = 'processing' limit 1
            )
            -- The sum, and that nothing is sorted, keep the planner from the index of all that is ready in the lane, which it
            -- would read whole for each job while the table has no statistics; the jobs of one key are few.
            or m.id <> (
                select b.id from livewell_private.job_live as b
                where b.serial_key = m.serial_key and b.lane_id + 0 = m.lane_id and b.state = 'pending' and b.waiting_for is null
                order by b.serial_key, b.priority desc, b.due_at, b.id
                limit 1
            )
        )
    ));
end $$;
