-- Parks ready jobs that must wait for their serial key: it runs already, or a better job of the same key is ready.
-- for: internal
create or replace function livewell.park_behind_serial_keys(p_ids bigint[])
returns void
language plpgsql security definer
set search_path = '' as $$
begin
    with mine as materialized (
        select j.id, j.serial_key, j.priority, j.due_at from livewell.job_live as j
        where j.id = any (p_ids) and j.serial_key is not null and j.state = 'pending' and j.held is null
    )
    update livewell.job_live as j set held = 'serial'
    from mine as m
    where j.id = m.id and j.state = 'pending' and j.held is null and (
        exists (
            select from livewell.job_live as r where r.serial_key = m.serial_key and r.state = 'processing'
        ) or exists (
            select from livewell.job_live as b
            where b.serial_key = m.serial_key and b.state = 'pending' and b.held is null
                and (-b.priority, b.due_at, b.id) < (-m.priority, m.due_at, m.id)
        )
    );
end $$;
