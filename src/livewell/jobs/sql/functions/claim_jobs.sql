-- Leases the best ready jobs of the open lanes to one worker: priority, then oldest; groups by their shares. A worker that
-- is given as many as it asked for is no longer idle: there may be more.
-- Two statements when all goes well, because it is the way of every job: look, and take. Jobs that draw on an endpoint's budget
-- are chosen and paid for between.
-- for: service
create or replace function livewell.claim_jobs(
    p_worker text,
    p_groups text[],
    p_max_jobs integer default 50,
    p_kinds text[] default null,
    p_shares double precision[] default null,
    p_now timestamptz default null
) returns table (
    job_id bigint, kind text, payload jsonb, attempt integer, failures integer, lease_token uuid,
    lease_seconds double precision, priority integer, due_at timestamptz, serial_key text,
    endpoint text, trace_context jsonb, api_key text, key_source text, send_within_seconds double precision,
    bundle bigint
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_seen livewell_private.claim_view;
    v_places tid[];
    v_jobs livewell_private.chosen_job[];
    v_token uuid := gen_random_uuid();
    v_seconds double precision;
    v_taken integer;
    v_now timestamptz := coalesce(p_now, clock_timestamp());
begin
    perform livewell_private.require_primary();
    v_seen := livewell_private.look_for_jobs(p_groups, p_kinds, p_shares, p_max_jobs, v_now);
    if v_seen.lanes is null then
        return;
    end if;
    v_seconds := extract(epoch from v_seen.lease);
    if v_seen.is_budgeted then
        select a.jobs, a.granted_at into v_jobs, v_now from livewell_private.lock_affordable_jobs(v_seen.lanes, p_max_jobs, p_now) as a;
        return query
        with taken as (
            update livewell_private.job_live as j
            set state = 'processing', attempt = j.attempt + 1, lease_token = v_token, worker = p_worker, started_at = v_now,
                lease_until = v_now + coalesce(v_seen.lease, (
                    select coalesce(k.lease, v_seen.default_lease) from livewell_private.job_kind as k where k.kind = j.kind
                )),
                reserved_tokens = c.tokens, reserved_bytes = c.bytes, api_key = c.api_key, bundle = c.bundle, is_passenger = c.is_passenger
            from unnest(v_jobs) as c
            where j.ctid = c.place
            returning j.id, j.kind, j.payload, j.attempt, j.failures, j.lease_until, j.priority, j.due_at, j.serial_key, j.endpoint,
                j.trace_context, j.api_key, j.bundle
        )
        select
            t.id, t.kind, t.payload, t.attempt, t.failures, v_token,
            coalesce(v_seconds, extract(epoch from t.lease_until - v_now)::double precision), t.priority, t.due_at,
            t.serial_key, t.endpoint, t.trace_context, t.api_key, k.source, extract(epoch from e.send_within)::double precision, t.bundle
        from taken as t
        left join livewell.endpoints as e on e.name = t.endpoint
        left join livewell_private.api_key as k on k.provider = e.provider and k.name = t.api_key
        order by t.priority desc, t.due_at, t.id;
    else
        if v_seen.has_serial_keys or cardinality(v_seen.lanes) > 1 then
            v_places := livewell_private.lock_jobs(v_seen.lanes, p_max_jobs);
            if v_places is null then
                return;
            end if;
        end if;
        -- Rows are found by their place: they are locked, so that nobody moves them. One lane without serial keys is locked by
        -- the statement that takes it.
        return query
        with taken as (
            update livewell_private.job_live as j
            set state = 'processing', attempt = j.attempt + 1, lease_token = v_token, worker = p_worker, started_at = v_now,
                lease_until = v_now + coalesce(v_seen.lease, (
                    select coalesce(k.lease, v_seen.default_lease) from livewell_private.job_kind as k where k.kind = j.kind
                ))
            where j.ctid = any (case
                when v_places is not null then v_places
                else array(
                    select r.ctid from livewell_private.job_live as r
                    where r.lane_id = v_seen.lanes[1].lane_id and r.state = 'pending' and r.waiting_for is null and r.serial_key is null
                    order by r.priority desc, r.due_at, r.id
                    limit v_seen.lanes[1].max_jobs
                    for update skip locked
                )
            end)
            returning j.id, j.kind, j.payload, j.attempt, j.failures, j.lease_until, j.priority, j.due_at, j.serial_key, j.trace_context
        )
        select
            t.id, t.kind, t.payload, t.attempt, t.failures, v_token,
            coalesce(v_seconds, extract(epoch from t.lease_until - v_now)::double precision), t.priority, t.due_at,
            t.serial_key, null::text, t.trace_context, null::text, null::text, null::double precision, null::bigint
        from taken as t
        order by t.priority desc, t.due_at, t.id;
    end if;
    get diagnostics v_taken = row_count;
    if v_taken >= p_max_jobs then
        update livewell_private.worker as w set idle = false where w.id = p_worker and w.idle;
    end if;
end $$;
