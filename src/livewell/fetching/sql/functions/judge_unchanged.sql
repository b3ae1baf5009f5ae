-- The verdict on refreshes whose provider said "unchanged": believed if there is something to be unchanged.
-- for: internal
create or replace function livewell_private.judge_unchanged(p_ended livewell_private.ended_fetch[], p_touched text[])
returns livewell_private.fetch_verdict[]
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select array_agg(case
        when t.key is not null then row (e.job, 'unchanged', e.reason, e.message)::livewell_private.fetch_verdict
        else row (e.job, 'refused', 'nothing_stored', 'unchanged, says the provider, but nothing of it is stored')::livewell_private.fetch_verdict
    end)
    from unnest(p_ended) as e left join unnest(p_touched) as t (key) on t.key = e.key
    where e.outcome = 'unchanged'
$$;
