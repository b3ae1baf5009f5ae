-- Of locked candidates, the places of those whose serial key is free: one per key, the best; the others are parked until
-- it is. Nothing more is locked for it: a candidate is seen by every claim that looks after it was locked.
-- for: internal
create or replace function livewell_private.take_serial_turns(p_places tid[], p_wrote_before boolean)
returns tid[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_others tid[];
    v_alone boolean;
    v_contested text[];
    v_turns tid[];
begin
    -- Looks are statements of their own, after the one that locked: of two claims that hold jobs of one key, at least one sees
    -- the other's. Whose key has no ready job but its own is seen by all who come later, and yielded to. Mostly no key has
    -- another job, ready or running, and then all may go.
    select count(*) = 0, array_agg(distinct r.ctid) filter (where r.ctid <> all (p_places)) into v_alone, v_others
    from livewell_private.job_live as j
    -- Looked up key by key (`offset 0`): a join may be planned as one with all that is ready.
    cross join lateral (
        select r.ctid from livewell_private.job_live as r
        where r.serial_key = j.serial_key and r.state = 'pending' and r.waiting_for is null and r.ctid <> j.ctid
        offset 0
    ) as r
    where j.ctid = any (p_places);
    if v_alone and not exists (
        select from livewell_private.job_live as r
        where r.state = 'processing' and r.serial_key = any (array(
            select j.serial_key from livewell_private.job_live as j where j.ctid = any (p_places)
        ))
    ) then
        return p_places;
    end if;
    if v_others is not null then
        v_contested := livewell_private.contested_serial_keys(p_places, v_others, p_wrote_before);
    end if;

    with ranked as materialized (
        select j.ctid as place, j.serial_key is null or (
            row_number() over (partition by j.serial_key order by j.priority desc, j.due_at, j.id) = 1
            and not exists (
                select from livewell_private.job_live as r where r.serial_key = j.serial_key and r.state = 'processing'
            )
        ) as its_turn
        from livewell_private.job_live as j
        where j.ctid = any (p_places) and (j.serial_key is null or v_contested is null or j.serial_key <> all (v_contested))
    ),
    parked as (
        update livewell_private.job_live as j set waiting_for = 'serial'
        where j.ctid = any (array(select r.place from ranked as r where not r.its_turn))
    )
    select array_agg(r.place) into v_turns from ranked as r where r.its_turn;
    if v_turns is null then
        -- What is left are jobs of keys that a rival decides about just now: parked too, or the next round finds them again.
        update livewell_private.job_live as j set waiting_for = 'serial' where j.ctid = any (p_places);
    end if;
    return v_turns;
end $$;
