-- Of serial keys, those that wait for nothing: jobs are parked behind them, but none runs and none is ready.
-- for: internal
create or replace function livewell.stalled_serial_keys(p_serial_keys text[])
returns text[]
language plpgsql stable security definer
set search_path = '' as $$
begin
    -- Key by key and in this order, the cheap looks first; plain conditions may be planned as joins with all that is ready.
    return (
        select array_agg(distinct w.serial_key) from unnest(p_serial_keys) as w (serial_key)
        where case
            when (
                select true from livewell.job_live as r where r.serial_key = w.serial_key and r.state = 'processing' limit 1
            ) then false
            when (
                select true from livewell.job_live as r
                where r.serial_key = w.serial_key and r.state = 'pending' and r.held is null
                order by r.serial_key, r.priority desc, r.due_at, r.id
                limit 1
            ) then false
            else (
                select true from livewell.job_live as r
                where r.serial_key = w.serial_key and r.state = 'pending' and r.held = 'serial'
                order by r.serial_key, r.priority desc, r.due_at, r.id
                limit 1
            )
        end
    );
end $$;
