-- Ends a batch of refreshes of any types in one transaction: what they brought is stored, their items learn from it, their jobs end,
-- their budgets are settled and whoever listens is told, or nothing of it. The lease decides first: whoever lost it stores nothing.
-- What cannot be believed or stored is refused alone. What somebody else holds in an open transaction (its job, its item, its rows) is
-- set aside alone, `busy`: nothing of it is done, its lease stays, and whoever has it stores it again later. Locks are taken in one
-- order: jobs, items, rows by key, budgets.
-- for: service
create or replace function livewell.store_fetches(p_ended jsonb, p_now timestamptz default clock_timestamp())
returns table (job_id bigint, state text, outcome text, reason text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_ended livewell_private.ended_fetch[];
    v_locked livewell_private.ended_fetch[];
    v_verdicts livewell_private.fetch_verdict[];
    v_judged livewell_private.judged_fetch[];
    v_refreshes livewell_private.ended_refresh[];
    v_ids bigint[];
    v_states text[];
begin
    perform livewell_private.require_primary();
    v_ended := livewell_private.read_fetches(p_ended);
    v_locked := livewell_private.lock_free_fetches(v_ended, p_now);
    v_verdicts := livewell_private.store_by_type(v_locked, p_now);
    v_judged := array(
        select row (e, v)::livewell_private.judged_fetch from unnest(v_locked) as e join unnest(v_verdicts) as v on v.job = e.job
        where v.outcome <> 'busy' order by e.job
    );
    if v_judged <> '{}' then
        perform livewell_private.lock_samples(array(select (j.told).item from unnest(v_judged) as j));
        perform livewell_private.keep_conditions(v_judged);
        v_refreshes := array(
            select row (
                e.job, e.item, v.outcome, coalesce(v.message, v.reason),
                -- What was not stored is not what is there.
                case when v.reason is distinct from 'same_source_time' then decode(e.hash, 'hex') end, e.bytes, l.worker, l.started_at
            )::livewell_private.ended_refresh
            from unnest(v_judged) as j
            cross join lateral (select (j.told).*) as e
            cross join lateral (select (j.found).*) as v
            join livewell_private.job_live as l on l.id = e.job
            -- What was put meanwhile is its item's last word.
            where e.item is not null and v.reason is distinct from 'put_meanwhile'
        );
        select array_agg(f.job_id), array_agg(f.state) into v_ids, v_states from livewell_private.finish_fetches(v_judged, p_now) as f;
        -- Those that ended for good without an answer have told their items by then.
        perform livewell_private.end_refreshes(array_agg(r), p_now)
        from unnest(v_refreshes) as r
        join unnest(v_ids, v_states) as s (job_id, state) on s.job_id = r.job_id
        where s.state in ('completed', 'pending')
        having count(*) > 0;
        perform livewell_private.warn_of_failures(v_judged, p_now);
        perform livewell_private.warn_of_answers(p_ended, p_now);
    end if;
    return query
    select e.job, coalesce(s.state, case when v.outcome = 'busy' then 'busy' end, 'lost'),
        case when v.outcome = 'busy' then e.outcome else coalesce(v.outcome, e.outcome) end, v.reason
    from unnest(v_ended) as e
    left join unnest(v_verdicts) as v on v.job = e.job
    left join unnest(v_ids, v_states) as s (job_id, state) on s.job_id = e.job;
end $$;
