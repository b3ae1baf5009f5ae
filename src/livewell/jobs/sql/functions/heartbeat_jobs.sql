-- Renews many leases in one call and tells per job: renewed, lost (another's now, or over), or busy (being finished).
-- for: service
create or replace function livewell.heartbeat_jobs(
    p_worker text, p_ids bigint[], p_tokens uuid[], p_now timestamptz default clock_timestamp()
) returns table (job_id bigint, status text, cancel_reason text, lease_seconds double precision)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_default_lease interval := livewell.setting_interval('worker.timeout');
begin
    perform livewell_private.require_primary();
    update livewell_private.worker as w set last_seen = p_now where w.id = p_worker;
    -- What runs is told by its token: asked for its state, all that runs is read through the index of leases.
    return query
    with input as materialized (
        select i.id, i.token from unnest(p_ids, p_tokens) as i (id, token)
    ),
    free as materialized (
        select j.id, j.lease_token, coalesce(k.lease, v_default_lease) as lease
        from livewell_private.job_live as j join livewell_private.job_kind as k on k.kind = j.kind
        where j.id = any (p_ids) and j.lease_token is not null
        for update of j skip locked
    ),
    renewed as (
        update livewell_private.job_live as j set lease_until = p_now + f.lease
        from free as f join input as i on i.id = f.id and i.token = f.lease_token
        where j.id = f.id
        returning j.id, j.cancel_reason, extract(epoch from f.lease)::double precision as lease_seconds
    )
    select i.id, case when r.id is not null then 'renewed' when b.id is not null then 'busy' else 'lost' end,
        r.cancel_reason, r.lease_seconds
    from input as i
    left join renewed as r on r.id = i.id
    left join lateral (
        select j.id from livewell_private.job_live as j
        where r.id is null and j.id = i.id and j.lease_token = i.token
    ) as b on true;
end $$;
