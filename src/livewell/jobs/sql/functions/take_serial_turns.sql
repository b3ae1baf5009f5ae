-- Of locked candidates, the places of those whose serial key is free: one per key, the best; the others are parked until
-- it is.
-- for: internal
create or replace function livewell.take_serial_turns(p_places tid[])
returns tid[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_places tid[];
    v_turns tid[];
begin
    -- The key's lock is taken in a statement before the one that looks whether the key runs: with the lock held and a newer
    -- snapshot, no rival can have started the key unseen. A thousand at most: the locks of all claims must fit the server's
    -- table of locks.
    select array_agg(c.ctid) into v_places
    from (
        select j.ctid, j.serial_key, count(j.serial_key) over (order by j.id rows unbounded preceding) as number
        from livewell.job_live as j where j.ctid = any (p_places)
    ) as c
    where c.serial_key is null
        or (c.number <= 1000 and pg_try_advisory_xact_lock(hashtextextended(c.serial_key, 7238)));

    with ranked as materialized (
        select j.ctid as place, j.serial_key is null or (
            row_number() over (partition by j.serial_key order by j.priority desc, j.due_at, j.id) = 1
            and not exists (
                select from livewell.job_live as r where r.serial_key = j.serial_key and r.state = 'processing'
            )
        ) as its_turn
        from livewell.job_live as j where j.ctid = any (v_places)
    ),
    parked as (
        update livewell.job_live as j set held = 'serial'
        where j.ctid = any (array(select r.place from ranked as r where not r.its_turn))
    )
    select array_agg(r.place) into v_turns from ranked as r where r.its_turn;
    if v_turns is null then
        -- What is left are jobs of keys that a rival decides about just now: parked too, or the next round finds them again.
        update livewell.job_live as j set held = 'serial' where j.ctid = any (p_places);
    end if;
    return v_turns;
end $$;
