-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.note_outcomes(p_item_ids bigint[], p_job_ids bigint[], p_outcomes text[], p_reasons text[], p_now timestamp with time zone, p_workers text[] DEFAULT NULL::text[], p_started_at timestamp with time zone[] DEFAULT NULL::timestamp with time zone[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
    insert into livewell.item_outcomes as h (item_id, outcomes)
    select a.item_id, array_agg(row (
        a.job_id, coalesce(a.worker, j.worker), coalesce(a.started_at, j.started_at), p_now, a.outcome,
        case when a.reason is not null then livewell.one_line(a.reason, 120) end
    )::livewell.refresh_outcome order by a.job_id desc)
    from unnest(p_item_ids, p_job_ids, p_outcomes, p_reasons, p_workers, p_started_at)
        as a (item_id, job_id, outcome, reason, worker, started_at)
    left join livewell.job_live as j on j.id = a.job_id
    -- An attempt that failed as it was stored is noted already when its job leaves.
    where p_started_at is null or not exists (
        select from livewell.item_outcomes as n
        where n.item_id = a.item_id and (n.outcomes[1]).job_id = a.job_id and (n.outcomes[1]).started_at = a.started_at
    )
    group by a.item_id
    order by a.item_id
    on conflict (item_id) do update set outcomes = (excluded.outcomes || h.outcomes)[1:5];
end $function$;
