-- Queues refreshes, and raises those that wait. One that somebody is queueing in a transaction that stays open is not waited for: it is
-- found by halving, and its item is in the answer.
-- for: internal
create or replace function livewell_private.queue_refreshes(p_jobs jsonb, p_now timestamptz, p_patience integer default 250) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' as $$
declare
    v_half constant integer := jsonb_array_length(p_jobs) / 2;
    v_raised bigint[];
    v_raisers text[];
begin
    perform set_config('lock_timeout', p_patience::text, true);
    begin
        select array_agg(q.job_id), array_agg(q.asker) into v_raised, v_raisers
        from (
            select e.job_id, p_jobs -> (e.job_position - 1) -> 'payload' ->> 'asked_by' as asker
            from livewell.enqueue_jobs(p_jobs, 'raise_priority', p_now) as e where e.outcome = 'raised'
        ) as q
        where q.asker is not null;
        -- One that waited already is now ahead for whoever asked: it is theirs.
        if v_raised is not null then
            update livewell_private.job_live as j set payload = j.payload || jsonb_build_object('asked_by', q.asker)
            from unnest(v_raised, v_raisers) as q (job_id, asker)
            where j.id = q.job_id;
        end if;
        return array[]::bigint[];
    exception when lock_not_available then
        if v_half = 0 then
            return array[(p_jobs #>> '{0,payload,item}')::bigint];
        end if;
    end;
    -- Half as patient each time, so that however many are held, all of them together cost a few moments.
    return livewell_private.queue_refreshes((
        select jsonb_agg(j.job order by j.at) from jsonb_array_elements(p_jobs) with ordinality as j (job, at) where j.at <= v_half
    ), p_now, greatest(1, p_patience / 2)) || livewell_private.queue_refreshes((
        select jsonb_agg(j.job order by j.at) from jsonb_array_elements(p_jobs) with ordinality as j (job, at) where j.at > v_half
    ), p_now, greatest(1, p_patience / 2));
end $$;
