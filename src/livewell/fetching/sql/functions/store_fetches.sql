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
    v_judged livewell_private.ended_fetch[];
    v_busy livewell_private.ended_fetch[];
    v_verdicts livewell_private.fetch_verdict[];
    v_ids bigint[];
    v_states text[];
begin
    perform livewell_private.require_primary();
    v_ended := livewell_private.read_fetches(p_ended);
    v_judged := livewell_private.hold_free_fetches(v_ended, p_now);
    v_verdicts := livewell_private.store_by_type(v_judged, p_now);
    v_judged := livewell_private.apply_verdicts(v_judged, v_verdicts);
    if exists (select from unnest(v_verdicts) as v where v.outcome = 'busy') then
        select array_agg(e) filter (where e.outcome = 'busy'), array_agg(e) filter (where e.outcome <> 'busy') into v_busy, v_judged
        from unnest(v_judged) as e;
    end if;
    if v_judged is not null then
        perform livewell_private.keep_conditions(v_judged);
        perform livewell_private.learn_items(
            array_agg(e.item_id), array_agg(e.outcome), array_agg(e.hash), array_agg(e.bytes), p_now,
            array_agg(coalesce(e.message, e.reason))
        ), livewell_private.note_outcomes(
            array_agg(e.item_id), array_agg(e.job_id), array_agg(e.outcome), array_agg(coalesce(e.message, e.reason)), p_now
        )
        from unnest(v_judged) as e where e.item_id is not null and e.outcome <> 'throttled';
        select array_agg(f.job_id), array_agg(f.state) into v_ids, v_states from livewell_private.finish_fetches(v_judged, p_now) as f;
        -- Whoever it was for may have left while it was fetched.
        perform livewell_private.let_refreshes_go(array_agg(e.item_id), p_now)
        from unnest(v_judged) as e where e.outcome in ('failed', 'refused', 'throttled') having count(e.item_id) > 0;
        perform livewell_private.warn_of_failures(v_judged, p_now);
        perform livewell_private.warn_of_answers(p_ended, p_now);
        perform livewell_private.tell_changes(v_judged);
    end if;
    return query
    select e.job_id, coalesce(s.state, b.outcome, 'lost'), coalesce(j.outcome, e.outcome), coalesce(j.reason, b.reason)
    from unnest(v_ended) as e
    left join unnest(v_judged) as j on j.job_id = e.job_id
    left join unnest(v_busy) as b on b.job_id = e.job_id
    left join unnest(v_ids, v_states) as s (job_id, state) on s.job_id = e.job_id;
end $$;
