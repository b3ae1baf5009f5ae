-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.hold_free_fetches(p_ended livewell.ended_fetch[], p_now timestamp with time zone)
 RETURNS livewell.ended_fetch[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '250ms'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_jobs bigint[];
    v_items bigint[];
    v_held livewell.ended_fetch[];
    v_one livewell.ended_fetch;
begin
    return livewell.hold_fetches(p_ended);
exception when lock_not_available then
    v_jobs := livewell.lock_free_jobs(array(select e.job_id from unnest(p_ended) as e), p_now);
    v_items := livewell.hold_free_items(array(
        select e.item_id from unnest(p_ended) as e where e.outcome <> 'throttled' and e.job_id = any (v_jobs)
    ), p_now);
    v_held := livewell.hold_fetches(array(
        select e from unnest(p_ended) as e
        where e.job_id = any (v_jobs) and (
            e.outcome = 'throttled' or e.item_id <> all (v_items)
        )
    ));
    for v_one in
        select e.* from unnest(p_ended) as e
        join livewell.job_live as j on j.id = e.job_id and j.lease_token = e.lease_token
        where not exists (select from unnest(v_held) as h where h.job_id = e.job_id)
    loop
        v_one.outcome := 'busy';
        v_one.rows := null;
        v_one.reason := case when v_one.job_id = any (v_jobs) then 'item_held: ' || livewell.who_locked('livewell.item', v_one.item_id::text)
            else 'job_held: ' || livewell.who_locked('livewell.job_live', v_one.job_id::text) end;
        v_held := v_held || v_one;
    end loop;
    return v_held;
end $function$;
