-- Adds what refreshes came to to the last five outcomes of their items, newest first. Who ran a refresh and since when is known to the
-- live job; the caller says it of jobs that have left. The caller holds the items.
-- for: internal
create or replace function livewell_private.note_outcomes(
    p_item_ids bigint[], p_job_ids bigint[], p_outcomes text[], p_reasons text[], p_now timestamptz,
    p_workers text[] default null, p_started_at timestamptz[] default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    insert into livewell_private.item_outcomes as h (item_id, outcomes)
    select a.item_id, array_agg(row (
        a.job_id, coalesce(a.worker, j.worker), coalesce(a.started_at, j.started_at), p_now, a.outcome,
        case when a.reason is not null then livewell_private.one_line(a.reason, 120) end
    )::livewell_private.refresh_outcome order by a.job_id desc)
    from unnest(p_item_ids, p_job_ids, p_outcomes, p_reasons, p_workers, p_started_at)
        as a (item_id, job_id, outcome, reason, worker, started_at)
    left join livewell_private.job_live as j on j.id = a.job_id
    -- An attempt that failed as it was stored is noted already when its job leaves.
    where p_started_at is null or not exists (
        select from livewell_private.item_outcomes as n
        where n.item_id = a.item_id and (n.outcomes[1]).job_id = a.job_id and (n.outcomes[1]).started_at = a.started_at
    )
    group by a.item_id
    order by a.item_id
    on conflict (item_id) do update set outcomes = (excluded.outcomes || h.outcomes)[1:5];
end $$;
