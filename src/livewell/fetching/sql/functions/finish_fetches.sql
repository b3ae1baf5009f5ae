-- Ends the jobs of judged refreshes, with what they spent, and answers with the state of each. A key that the provider does not have
-- is done; one that our own budget kept from going on is due when there is room again; an answer that is refused is tried again like a failure, but it is an answer: the endpoint is well.
-- for: internal
create or replace function livewell_private.finish_fetches(p_judged livewell_private.ended_fetch[], p_now timestamptz)
returns table (job_id bigint, state text)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select f.job_id, f.state
    from (
        select array_agg(e.job_id order by e.job_id) as ids, array_agg(e.lease_token order by e.job_id) as tokens,
            array_agg(case
                when e.outcome in ('fetched', 'unchanged', 'gone') then 'completed'
                when e.outcome = 'throttled' and e.reason = 'no_permit' then 'rescheduled'
                when e.outcome = 'throttled' then 'throttled'
                else 'failed'
            end order by e.job_id) as outcomes,
            jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                'actual_bytes', e.bytes, 'actual_tokens', e.tokens, 'rate', e.rate, 'sent', nullif(e.sent, true),
                'result', case when e.outcome in ('unchanged', 'gone')
                    then jsonb_build_object('outcome', e.outcome, 'reason', e.reason, 'message', e.message) end,
                'delay_seconds', case when e.reason = 'no_permit' then coalesce(e.seconds, 1) else e.seconds end,
                'answered', case when e.outcome = 'refused' then true end,
                'reason', case when e.outcome = 'throttled' then e.message end,
                'error', case when e.outcome in ('refused', 'failed') then jsonb_build_object(
                    'type', initcap(e.outcome), 'reason', e.reason, 'message', coalesce(e.message, e.reason), 'status', e.status
                ) end
            )) order by e.job_id) as details
        from unnest(p_judged) as e
    ) as b
    cross join lateral livewell.finish_jobs(b.ids, b.tokens, b.outcomes, b.details, p_now) as f;
end $$;
