-- Holds the jobs and items of ended refreshes without waiting for anybody longer than a moment. What somebody else keeps in an open
-- transaction, a job or an item, is set aside alone, as busy: the others are stored, and it is stored later.
-- for: internal
create or replace function livewell_private.hold_free_fetches(p_ended livewell_private.ended_fetch[], p_now timestamptz) returns livewell_private.ended_fetch[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' set enable_seqscan = off set jit = off as $$
declare
    v_jobs bigint[];
    v_items bigint[];
    v_held livewell_private.ended_fetch[];
    v_one livewell_private.ended_fetch;
begin
    return livewell_private.hold_fetches(p_ended);
exception when lock_not_available then
    v_jobs := livewell_private.lock_free_jobs(array(select e.job_id from unnest(p_ended) as e), p_now);
    v_items := livewell_private.hold_free_items(array(
        select e.item_id from unnest(p_ended) as e where e.outcome <> 'throttled' and e.job_id = any (v_jobs)
    ), p_now);
    v_held := livewell_private.hold_fetches(array(
        select e from unnest(p_ended) as e
        where e.job_id = any (v_jobs) and (
            e.outcome = 'throttled' or e.item_id <> all (v_items)
        )
    ));
    for v_one in
        select e.* from unnest(p_ended) as e
        join livewell_private.job_live as j on j.id = e.job_id and j.lease_token = e.lease_token
        where not exists (select from unnest(v_held) as h where h.job_id = e.job_id)
    loop
        v_one.outcome := 'busy';
        v_one.rows := null;
        v_one.reason := case when v_one.job_id = any (v_jobs) then 'item_held: ' || livewell_private.who_locked('livewell_private.item', v_one.item_id::text)
            else 'job_held: ' || livewell_private.who_locked('livewell_private.job_live', v_one.job_id::text) end;
        v_held := v_held || v_one;
    end loop;
    return v_held;
end $$;
