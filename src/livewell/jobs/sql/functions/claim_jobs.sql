-- Leases the best ready jobs of the open lanes to one worker: priority, then oldest; groups by their shares.
-- for: service
create or replace function livewell.claim_jobs(
    p_worker text,
    p_groups text[],
    p_max_jobs integer default 50,
    p_kinds text[] default null,
    p_shares double precision[] default null,
    p_now timestamptz default clock_timestamp()
) returns table (
    job_id bigint, kind text, payload jsonb, attempt integer, failures integer, lease_token uuid,
    lease_seconds double precision, priority integer, due_at timestamptz, serial_key text,
    endpoint text, trace_context jsonb
)
language plpgsql security definer
set search_path = '' set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    v_lanes livewell.open_lane[];
    v_ids bigint[];
    v_has_serial_keys boolean;
    v_token uuid := gen_random_uuid();
    v_default_lease interval;
begin
    perform livewell.require_primary();
    if p_max_jobs < 1 or livewell.setting_boolean('maintenance.enabled') then
        return;
    end if;
    perform livewell.release_due_jobs(p_now);
    v_lanes := livewell.open_lanes(p_groups, p_kinds, p_shares, p_max_jobs, p_now);
    if v_lanes is null then
        return;
    end if;

    -- A round may find only jobs that must wait for their serial key; they are parked, and the next round looks past them.
    for v_round in 1..10 loop
        select array_agg(c.id), bool_or(c.has_serial_key) into v_ids, v_has_serial_keys
        from livewell.lock_candidates(v_lanes, p_max_jobs) as c;
        exit when v_ids is null;
        if v_has_serial_keys then
            v_ids := livewell.take_serial_turns(v_ids);
        end if;
        exit when v_ids is not null;
    end loop;
    if v_ids is null then
        return;
    end if;

    update livewell.worker as w set idle = false where w.id = p_worker and w.idle;
    v_default_lease := livewell.setting_interval('worker.timeout');
    return query
    with taken as (
        update livewell.job_live as j
        set state = 'processing', attempt = j.attempt + 1, lease_token = v_token, worker = p_worker, started_at = p_now,
            lease_until = p_now + coalesce(k.lease, v_default_lease)
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
end $$;
