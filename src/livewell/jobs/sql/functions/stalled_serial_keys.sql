-- Of serial keys, those that wait for nothing: jobs are parked behind them, but none runs and none is ready.
-- for: internal
create or replace function livewell.stalled_serial_keys(p_serial_keys text[])
returns text[]
language plpgsql stable security definer
set search_path = '' as $$
begin
    return (
        select array_agg(distinct w.serial_key) from unnest(p_serial_keys) as w (serial_key)
        where not exists (
            select from livewell.job_live as r where r.serial_key = w.serial_key and r.state = 'processing'
        ) and not exists (
            select from livewell.job_live as r where r.serial_key = w.serial_key and r.state = 'pending' and r.held is null
        ) and exists (
            select from livewell.job_live as r where r.serial_key = w.serial_key and r.state = 'pending' and r.held = 'serial'
        )
    );
end $$;
