-- Ends the jobs of judged refreshes, with what they spent, and answers with the state of each. A key that the provider does not have
-- is done; one that our own budget kept from going on is due when there is headroom again; an answer that is refused is tried again like a
-- failure, but it is an answer: the endpoint is well.
-- for: internal
create or replace function livewell_private.finish_fetches(p_judged livewell_private.judged_fetch[], p_now timestamptz)
returns table (job_id bigint, state text)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select f.job_id, f.state
    from (
        select array_agg(e.job order by e.job) as ids, array_agg(e.token order by e.job) as tokens,
            array_agg(case
                when v.outcome in ('fetched', 'unchanged', 'gone') then 'completed'
                when v.outcome = 'throttled' and v.reason = 'no_permit' then 'rescheduled'
                when v.outcome = 'throttled' then 'throttled'
                else 'failed'
            end order by e.job) as outcomes,
            jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                'actual_bytes', e.bytes, 'actual_tokens', e.tokens, 'rate', e.rate, 'sent', nullif(e.sent, true),
                'result', case when v.outcome in ('unchanged', 'gone')
                    then jsonb_build_object('outcome', v.outcome, 'reason', v.reason, 'message', v.message) end,
                'delay_seconds', case when v.reason = 'no_permit' then coalesce(e.seconds, 1) else e.seconds end,
                'answered', case when v.outcome = 'refused' then true end,
                'reason', case when v.outcome = 'throttled' then v.message end,
                'error', case when v.outcome in ('refused', 'failed') then jsonb_build_object(
                    'type', initcap(v.outcome), 'reason', v.reason, 'message', coalesce(v.message, v.reason), 'status', e.status
                ) end
            )) order by e.job) as details
        from unnest(p_judged) as j
        cross join lateral (select (j.told).*) as e
        cross join lateral (select (j.found).*) as v
    ) as b
    cross join lateral livewell.finish_jobs(b.ids, b.tokens, b.outcomes, b.details, p_now) as f;
end $$;
