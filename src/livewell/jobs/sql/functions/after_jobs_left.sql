-- Gives freed serial keys to whoever waits for them, and wakes idle workers of kinds that are ready or below their caps again.
-- for: internal
create or replace function livewell_private.after_jobs_left(p_serial_keys text[], p_ready_kinds text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_kinds text[] := p_ready_kinds;
begin
    if p_serial_keys is not null then
        v_kinds := v_kinds || livewell_private.promote_serial_jobs(p_serial_keys);
    end if;
    if v_kinds is not null then
        perform livewell_private.wake_workers(v_kinds);
    end if;
end $$;
