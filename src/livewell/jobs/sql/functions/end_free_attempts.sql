-- Ends those attempts whose rows nobody else has at this moment. The others, where the lease still counts, are busy: they keep it, and
-- whoever has it asks again.
-- for: internal
create or replace function livewell_private.end_free_attempts(
    p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb, p_mixed boolean, p_now timestamptz
) returns livewell_private.ended_jobs
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '2s' set enable_seqscan = off set jit = off as $$
declare
    v_ended livewell_private.ended_jobs;
    v_free bigint[];
    v_busy record;
    v_left record;
begin
    v_free := livewell_private.lock_free_jobs(p_ids, p_now);
    select array_agg(j.id) as ids, array_agg('busy'::text) as states into v_busy
    from unnest(p_ids, p_tokens) as i (id, token)
    join livewell_private.job_live as j on j.id = i.id and j.lease_token = i.token
    where j.id <> all (v_free);
    if v_busy.ids is null then
        return livewell_private.lock_and_end_attempts(p_ids, p_tokens, p_outcomes, p_details, p_mixed, p_now);
    end if;
    select array_agg(i.id order by i.at) as ids, array_agg(i.token order by i.at) as tokens, array_agg(i.outcome order by i.at) as outcomes,
        jsonb_agg(p_details -> (i.at - 1)::integer order by i.at) as details
    into v_left
    from unnest(p_ids, p_tokens, p_outcomes) with ordinality as i (id, token, outcome, at)
    where i.id <> all (v_busy.ids);
    if v_left.ids is not null then
        v_ended := livewell_private.lock_and_end_attempts(
            v_left.ids, v_left.tokens, case when p_outcomes is not null then v_left.outcomes end,
            case when p_details is not null then v_left.details end, p_mixed, p_now
        );
    end if;
    v_ended.ids := v_ended.ids || v_busy.ids;
    v_ended.states := v_ended.states || v_busy.states;
    return v_ended;
end $$;
