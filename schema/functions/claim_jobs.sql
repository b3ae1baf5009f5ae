-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.claim_jobs(p_worker text, p_groups text[], p_max_jobs integer DEFAULT 50, p_kinds text[] DEFAULT NULL::text[], p_shares double precision[] DEFAULT NULL::double precision[], p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(job_id bigint, kind text, payload jsonb, attempt integer, failures integer, lease_token uuid, lease_seconds double precision, priority integer, due_at timestamp with time zone, serial_key text, endpoint text, trace_context jsonb)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
    v_seen livewell.claim_view;
    v_ids bigint[];
    v_has_serial_keys boolean;
    v_token uuid := gen_random_uuid();
begin
    perform livewell.require_primary();
    v_seen := livewell.look_for_jobs(p_groups, p_kinds, p_shares, p_max_jobs, p_now);
    if v_seen.lanes is null then
        return;
    end if;

    -- A round may find only jobs that must wait for their serial key; they are parked, and the next looks past them.
    for v_round in 1..10 loop
        if cardinality(v_seen.lanes) = 1 then
            select array_agg(c.id), bool_or(c.serial_key is not null) into v_ids, v_has_serial_keys
            from (
                select j.id, j.serial_key from livewell.job_live as j
                where j.lane_id = v_seen.lanes[1].lane_id and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit v_seen.lanes[1].room
                for update skip locked
            ) as c;
        else
            select array_agg(c.id), bool_or(c.has_serial_key) into v_ids, v_has_serial_keys
            from livewell.lock_across_lanes(v_seen.lanes, p_max_jobs) as c;
        end if;
        exit when v_ids is null;
        if v_has_serial_keys then
            v_ids := livewell.take_serial_turns(v_ids);
        end if;
        exit when v_ids is not null;
    end loop;
    if v_ids is null then
        return;
    end if;

    return query
    with awake as (
        update livewell.worker as w set idle = false where w.id = p_worker and w.idle
    ),
    taken as (
        update livewell.job_live as j
        set state = 'processing', attempt = j.attempt + 1, lease_token = v_token, worker = p_worker, started_at = p_now,
            lease_until = p_now + coalesce(k.lease, v_seen.default_lease)
        from livewell.job_kind as k
        where j.id = any (v_ids) and k.kind = j.kind
        returning j.id, j.kind, j.payload, j.attempt, j.failures, j.lease_until, j.priority, j.due_at,
            j.serial_key, j.endpoint, j.trace_context
    )
    select
        t.id, t.kind, t.payload, t.attempt, t.failures, v_token,
        extract(epoch from t.lease_until - p_now)::double precision, t.priority, t.due_at, t.serial_key,
        t.endpoint, t.trace_context
    from taken as t
    order by t.priority desc, t.due_at, t.id;
end $function$;

grant execute on function livewell.claim_jobs(text,text[],integer,text[],double precision[],timestamp with time zone) to livewell_service;
