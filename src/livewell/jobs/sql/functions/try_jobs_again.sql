-- Decides failed, rescheduled, throttled and reset attempts: another try after a while, or the end when retries are used up.
-- for: internal
create or replace function livewell_private.try_jobs_again(
    p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb, p_now timestamptz
) returns livewell_private.ended_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_again livewell_private.ended_jobs;
    v_last livewell_private.ended_jobs;
    v_ids bigint[];
    v_tokens uuid[];
    v_outcomes text[];
    v_details jsonb;
begin
    -- What may not be tried again ends here, with its details, by the same way as every other end.
    select array_agg(j.id), array_agg(j.lease_token),
        array_agg(case when j.cancel_reason is null then 'dead' else 'cancelled' end),
        jsonb_agg(p_details -> (i.ordinality - 1)::integer)
    into v_ids, v_tokens, v_outcomes, v_details
    from unnest(p_ids, p_tokens, p_outcomes) with ordinality as i (id, token, outcome)
    join livewell_private.job_live as j on j.id = i.id and j.lease_token = i.token
    where i.outcome in ('failed', 'rescheduled', 'throttled', 'reset')
        and (j.cancel_reason is not null or (i.outcome = 'failed' and j.failures >= j.retries));
    if v_ids is not null then
        v_last := livewell_private.end_jobs(v_ids, v_tokens, v_outcomes, v_details, p_now);
    end if;

    with input as materialized (
        select i.id, i.token, i.outcome, d.detail, coalesce(
            (d.detail ->> 'delay_seconds')::double precision,
            case when i.outcome = 'rescheduled' then extract(epoch from livewell.setting_interval('queue.backpressure_delay')) end
        ) as delay_seconds
        from unnest(p_ids, p_tokens, p_outcomes) with ordinality as i (id, token, outcome)
        cross join lateral (select p_details -> (i.ordinality - 1)::integer as detail) as d
        where i.outcome in ('failed', 'rescheduled', 'throttled', 'reset')
    ),
    leased as materialized (
        select j.id, j.kind, j.attempt, j.worker, j.started_at, j.serial_key, i.outcome, i.detail, i.delay_seconds, j.endpoint, j.api_key,
            j.is_passenger, j.reserved_bytes, j.reserved_tokens, k.concurrency is not null or j.reserved_tokens is not null as capped,
            case
                when i.outcome = 'reset' then interval '0'
                -- Its endpoint is closed meanwhile; without one it is the job that waits.
                when i.outcome = 'throttled' then make_interval(secs => case when j.endpoint is null then coalesce(i.delay_seconds, 60) else 0 end)
                when i.outcome = 'rescheduled'
                    then make_interval(secs => i.delay_seconds + random() * least(i.delay_seconds / 2, 30))
                when i.delay_seconds is not null then make_interval(secs => i.delay_seconds)
                else least(k.backoff_max, k.backoff_first * power(2, least(j.failures, 30))) * (0.5 + random() / 2)
            end as delay
        from livewell_private.job_live as j
        join input as i on i.id = j.id and i.token = j.lease_token
        join livewell_private.job_kind as k on k.kind = j.kind
        where j.id = any (p_ids)
    ),
    again as (
        update livewell_private.job_live as j
        set state = 'pending', lease_token = null, lease_until = null, worker = null, started_at = null, reserved_bytes = null,
            reserved_tokens = null, api_key = null, bundle = null, is_passenger = null, due_at = p_now + h.delay, waiting_for = case when h.delay > interval '0' then 'due' end,
            failures = j.failures + (h.outcome = 'failed')::integer
        from leased as h
        where j.id = h.id
    ),
    tried as (
        insert into livewell_private.job_attempt (job_id, attempt, worker, started_at, ended_at, outcome, error, reason)
        select h.id, h.attempt, h.worker, h.started_at, p_now, case h.outcome when 'throttled' then 'rescheduled' else h.outcome end,
            h.detail -> 'error', coalesce(h.detail ->> 'reason', case h.outcome when 'throttled' then 'throttled' end)
        from leased as h
    )
    select array_agg(h.id), array_agg('pending'::text), array_agg(h.serial_key) filter (where h.serial_key is not null),
        array_agg(distinct h.kind) filter (where h.capped or h.delay = interval '0'),
        array_agg(row (
            h.endpoint, h.api_key, h.kind, h.started_at, h.reserved_bytes, h.reserved_tokens, (h.detail ->> 'actual_bytes')::bigint,
            (h.detail ->> 'actual_tokens')::integer, case
                when h.detail ->> 'sent' = 'false' then 'unsent' when h.detail ->> 'answered' = 'true' then 'answered' else h.outcome
            end,
            case h.outcome
                when 'throttled' then jsonb_build_object('status', 429, 'retry_after_seconds', h.delay_seconds)
                    || coalesce(jsonb_strip_nulls(h.detail -> 'rate'), '{}')
                else h.detail -> 'rate'
            end, h.is_passenger
        )::livewell_private.spent_call) filter (where h.reserved_tokens is not null)
    into v_again.ids, v_again.states, v_again.serial_keys, v_again.kinds, v_again.spent
    from leased as h;
    v_again.ids := v_again.ids || v_last.ids;
    v_again.states := v_again.states || v_last.states;
    v_again.serial_keys := v_again.serial_keys || v_last.serial_keys;
    v_again.kinds := v_again.kinds || v_last.kinds;
    v_again.spent := v_again.spent || v_last.spent;
    return v_again;
end $$;
