-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.claim_jobs(p_worker text, p_groups text[], p_max_jobs integer DEFAULT 50, p_kinds text[] DEFAULT NULL::text[], p_shares double precision[] DEFAULT NULL::double precision[], p_now timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS TABLE(job_id bigint, kind text, payload jsonb, attempt integer, failures integer, lease_token uuid, lease_seconds double precision, priority integer, due_at timestamp with time zone, serial_key text, endpoint text, trace_context jsonb, api_key text, key_source text, send_within_seconds double precision, bundle bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
    v_seen livewell.claim_view;
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
    perform livewell.require_primary();
    v_seen := livewell.look_for_jobs(p_groups, p_kinds, p_shares, p_max_jobs, v_now);
    if v_seen.lanes is null then
        return;
    end if;
    if v_seen.budgeted then
        select a.places, a.keys, a.bundles, a.rides, a.lane_ids, a.call_bytes, a.send_within, a.granted_at
        into v_places, v_keys, v_bundles, v_rides, v_lane_ids, v_call_bytes, v_send_within, v_now
        from livewell.lock_affordable_jobs(v_seen.lanes, p_max_jobs, p_now) as a;
    elsif v_seen.has_serial_keys or cardinality(v_seen.lanes) > 1 then
        v_places := livewell.lock_jobs(v_seen.lanes, p_max_jobs);
    end if;
    if v_places is null and (v_seen.budgeted or v_seen.has_serial_keys or cardinality(v_seen.lanes) > 1) then
        return;
    end if;
    v_seconds := extract(epoch from v_seen.lease);

    -- Rows are found by their place: they are locked, so that nobody moves them. One lane without serial keys is locked by
    -- the statement that takes it.
    return query
    with taken as (
        update livewell.job_live as j
        set state = 'processing', attempt = j.attempt + 1, lease_token = v_token, worker = p_worker, started_at = v_now,
            lease_until = v_now + coalesce(v_seen.lease, (
                select coalesce(k.lease, v_seen.default_lease) from livewell.job_kind as k where k.kind = j.kind
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
                select r.ctid from livewell.job_live as r
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
            select k.source from livewell.api_key as k where k.provider = split_part(t.endpoint, '/', 1) and k.name = t.api_key
        ) end,
        v_send_within[array_position(v_lane_ids, t.lane_id)], t.bundle
    from taken as t
    order by t.priority desc, t.due_at, t.id;
    get diagnostics v_taken = row_count;
    if v_taken >= p_max_jobs then
        update livewell.worker as w set idle = false where w.id = p_worker and w.idle;
    end if;
end $function$;

grant execute on function livewell.claim_jobs(text,text[],integer,text[],double precision[],timestamp with time zone) to livewell_service;
