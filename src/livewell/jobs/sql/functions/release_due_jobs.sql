-- Puts jobs whose time has come into the ready order; until then they are out of it, so that they cost a claim nothing.
-- for: internal
create or replace function livewell_private.release_due_jobs(p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_ids bigint[];
    v_has_serial_keys boolean;
begin
    with released as (
        update livewell_private.job_live as j set waiting_for = null
        where j.id = any (array(
            select d.id from livewell_private.job_live as d
            where d.waiting_for = 'due' and d.due_at <= p_now
            order by d.due_at
            limit 1000
            for update skip locked
        ))
        returning j.id, j.serial_key
    )
    select array_agg(r.id), bool_or(r.serial_key is not null) into v_ids, v_has_serial_keys from released as r;
    if v_has_serial_keys then
        perform livewell_private.park_behind_serial_keys(v_ids);
    end if;
    return coalesce(cardinality(v_ids), 0);
end $$;
