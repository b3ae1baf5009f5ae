-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.park_behind_serial_keys(p_ids bigint[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    -- By primary key, then one look for all keys: one for each key was planned through all that is ready, job by job, while the
    -- table had no statistics.
    with mine as materialized (
        select j.id, j.serial_key, j.lane_id, j.held, row_number() over (
            partition by j.serial_key, j.lane_id, j.held order by j.priority desc, j.due_at, j.id
        ) as place
        from livewell.job_live as j where j.id = any (p_ids)
    ),
    best as materialized (
        select distinct on (b.serial_key, b.lane_id) b.id
        from livewell.job_live as b
        where b.serial_key = any (array(select distinct m.serial_key from mine as m where m.serial_key is not null and m.held is null))
            and b.state = 'pending' and b.held is null
        order by b.serial_key, b.lane_id, b.priority desc, b.due_at, b.id
    )
    update livewell.job_live as j set held = 'serial'
    where j.id = any (array(
        select m.id from mine as m
        where m.serial_key is not null and m.held is null and (
            m.place > 1 or exists (
                select from livewell.job_live as r where r.serial_key = m.serial_key and r.state = 'processing'
            ) or m.id not in (select b.id from best as b)
        )
    ));
end $function$;
