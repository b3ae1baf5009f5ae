-- Locks the jobs and items of ended refreshes without waiting for anybody longer than a moment. What somebody else keeps in an open
-- transaction, a job or an item, is set aside alone, as busy: the others are stored, and it is stored later.
-- for: internal
create or replace function livewell_private.lock_free_fetches(p_ended livewell_private.ended_fetch[], p_now timestamptz) returns livewell_private.ended_fetch[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' set enable_seqscan = off set jit = off as $$
declare
    v_jobs bigint[];
    v_items bigint[];
    v_locked livewell_private.ended_fetch[];
    v_fetch livewell_private.ended_fetch;
begin
    return livewell_private.lock_fetches(p_ended);
exception when lock_not_available then
    v_jobs := livewell_private.lock_free_jobs(array(select e.job from unnest(p_ended) as e), p_now);
    v_items := livewell_private.lock_free_items(array(
        select e.item from unnest(p_ended) as e where e.outcome <> 'throttled' and e.job = any (v_jobs)
    ), p_now);
    v_locked := livewell_private.lock_fetches(array(
        select e from unnest(p_ended) as e
        where e.job = any (v_jobs) and (
            e.outcome = 'throttled' or e.item <> all (v_items)
        )
    ));
    for v_fetch in
        select e.* from unnest(p_ended) as e
        join livewell_private.job_live as j on j.id = e.job and j.lease_token = e.token
        where not exists (select from unnest(v_locked) as h where h.job = e.job)
    loop
        v_fetch.outcome := 'busy';
        v_fetch.rows := null;
        v_fetch.reason := case when v_fetch.job = any (v_jobs) then 'item_held: ' || livewell_private.who_locked('livewell_private.item', v_fetch.item::text)
            else 'job_held: ' || livewell_private.who_locked('livewell_private.job_live', v_fetch.job::text) end;
        v_locked := v_locked || v_fetch;
    end loop;
    return v_locked;
end $$;
