-- Adds what refreshes came to to the last five outcomes of their items, newest first. The caller has locked the items.
-- for: internal
create or replace function livewell_private.note_outcomes(p_ended livewell_private.ended_refresh[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    insert into livewell_private.item_outcomes as h (item_id, outcomes)
    select e.item_id, array_agg(row (
        e.job_id, e.worker, e.started_at, p_now, case e.outcome when 'dead' then 'failed' else e.outcome end,
        case when e.reason is not null then livewell_private.one_line(e.reason, 120) end
    )::livewell_private.refresh_outcome order by e.job_id desc)
    from unnest(p_ended) as e
    where e.outcome <> 'throttled'
    group by e.item_id
    order by e.item_id
    on conflict (item_id) do update set outcomes = (excluded.outcomes || h.outcomes)[1:5];
end $$;
