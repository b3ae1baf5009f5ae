-- Leases the best ready jobs of the open lanes to one worker: priority, then oldest; groups by their shares. A worker that
-- is given as many as it asked for is no longer idle: there may be more.
-- Two statements when all goes well, because it is the way of every job: look, and take; jobs that draw on an endpoint's
-- budget are chosen and paid for between.
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
    v_token uuid := gen_random_uuid();
    v_seconds double precision;
    v_taken integer;
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    v_keys text[];
    v_bundles bigint[];
    v_rides boolean[];
    v_lane_ids integer[];
    v_call_bytes bigint[];
    v_send_within double precision[];
begin
    perform livewell_private.require_primary();
    v_seen := livewell_private.look_for_jobs(p_groups, p_kinds, p_shares, p_max_jobs, v_now);
    if v_seen.lanes is null then
        return;
    end if;
    if v_seen.budgeted then
        select a.places, a.keys, a.bundles, a.rides, a.lane_ids, a.call_bytes, a.send_within, a.granted_at
        into v_places, v_keys, v_bundles, v_rides, v_lane_ids, v_call_bytes, v_send_within, v_now
        from livewell_private.lock_affordable_jobs(v_seen.lanes, p_max_jobs, p_now) as a;
    elsif v_seen.has_serial_keys or cardinality(v_seen.lanes) > 1 then
        v_places := livewell_private.lock_jobs(v_seen.lanes, p_max_jobs);
    end if;
    if v_places is null and (v_seen.budgeted or v_seen.has_serial_keys or cardinality(v_seen.lanes) > 1) then
        return;
    end if;
    v_seconds := extract(epoch from v_seen.lease);

    -- Rows are found by their place: they are locked, so that nobody moves them. One lane without serial keys is locked by
    -- the statement that takes it.
    return query
    with taken as (
        update livewell_private.job_live as j
        set state = 'processing', attempt = j.attempt + 1, lease_token = v_token, worker = p_worker, started_at = v_now,
            lease_until = v_now + coalesce(v_seen.lease, (
                select coalesce(k.lease, v_seen.default_lease) from livewell_private.job_kind as k where k.kind = j.kind
            )),
            reserved_tokens = case when v_seen.budgeted and j.endpoint is not null then j.estimated_tokens end,
            reserved_bytes = case when v_seen.budgeted and j.endpoint is not null
                then coalesce(j.estimated_bytes, v_call_bytes[array_position(v_lane_ids, j.lane_id)]) end,
            api_key = case when v_keys is not null then split_part(v_keys[array_position(v_places, j.ctid)], '@', 2) end,
            bundle = case when v_bundles is not null then v_bundles[array_position(v_places, j.ctid)] end,
            rides = case when v_bundles is not null then v_rides[array_position(v_places, j.ctid)] end
        where j.ctid = any (case
            when v_places is not null then v_places
            else array(
                select r.ctid from livewell_private.job_live as r
                where r.lane_id = v_seen.lanes[1].lane_id and r.state = 'pending' and r.held is null and r.serial_key is null
                order by r.priority desc, r.due_at, r.id
                limit v_seen.lanes[1].room
                for update skip locked
            )
        end)
        returning j.id, j.kind, j.payload, j.attempt, j.failures, j.lease_until, j.priority, j.due_at,
            j.serial_key, j.endpoint, j.trace_context, j.api_key, j.lane_id, j.bundle
    )
    select
        t.id, t.kind, t.payload, t.attempt, t.failures, v_token,
        coalesce(v_seconds, extract(epoch from t.lease_until - v_now)::double precision), t.priority, t.due_at,
        t.serial_key, t.endpoint, t.trace_context, t.api_key, case when t.api_key is not null then (
            select k.source from livewell_private.api_key as k where k.provider = split_part(t.endpoint, '/', 1) and k.name = t.api_key
        ) end,
        v_send_within[array_position(v_lane_ids, t.lane_id)], t.bundle
    from taken as t
    order by t.priority desc, t.due_at, t.id;
    get diagnostics v_taken = row_count;
    if v_taken >= p_max_jobs then
        update livewell_private.worker as w set idle = false where w.id = p_worker and w.idle;
    end if;
end $$;
