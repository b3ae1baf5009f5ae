-- Queues one job in the caller's transaction. The ordinary one takes two statements; whatever is not ordinary (a duplicate,
-- a serial key, an endpoint, a lane yet to be opened, something large or long, a mistake) goes the way of a batch. Whether anything is notified is read by
-- the first of them, which costs less than asking livewell_private.notify.
-- for: service
create or replace function livewell.enqueue_job(
    p_kind text,
    p_payload jsonb,
    p_priority integer default null,
    p_scheduled_at timestamptz default null,
    p_delay_seconds double precision default null,
    p_category text default null,
    p_dedupe_key text default null,
    p_serial_key text default null,
    p_endpoint text default null,
    p_estimated_bytes bigint default null,
    p_estimated_tokens integer default null,
    p_retries integer default null,
    p_trace_context jsonb default null,
    p_on_duplicate text default 'keep',
    p_now timestamptz default clock_timestamp()
) returns table (job_id bigint, outcome text, handled boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_lane_id integer;
    v_priority integer;
    v_retries integer;
    v_idle_group text;
    v_due_at timestamptz := coalesce(p_scheduled_at, p_now);
begin
    perform livewell_private.require_primary();
    if p_delay_seconds is not null then
        v_due_at := v_due_at + make_interval(secs => p_delay_seconds);
    end if;
    if p_serial_key is null and p_on_duplicate = 'keep' and p_dedupe_key is distinct from '' and p_endpoint is null
        and jsonb_typeof(p_payload) = 'object' and p_payload <> '{}'
        and pg_column_size(p_payload) + coalesce(pg_column_size(p_trace_context), 0) <= 65536
        and coalesce(length(p_dedupe_key), 0) <= 500 and coalesce(length(p_category), 0) <= 100 then
        select l.id, coalesce(p_priority, k.default_priority), coalesce(p_retries, k.retries),
            case when w.idle and not (select n.quiet from livewell_private.notification_state as n) then k.queue_group end,
            coalesce(w.handled, false)
        into v_lane_id, v_priority, v_retries, v_idle_group, handled
        from livewell_private.job_kind as k
        join livewell_private.job_lane as l on l.kind = k.kind and l.endpoint is null
        cross join lateral (
            select bool_or(w.idle and k.queue_group = any (w.queue_groups)) as idle, bool_or(p_kind = any (w.kinds)) as handled
            from livewell_private.worker as w where w.last_seen > p_now - interval '5 minutes'
        ) as w
        where k.kind = p_kind
            and (select s.value::boolean from livewell.settings as s where s.name = 'queue.enqueue_enabled');
        if v_lane_id is not null then
            insert into livewell_private.job_live (
                lane_id, kind, priority, due_at, waiting_for, retries, payload, category, dedupe_key, estimated_bytes,
                estimated_tokens, trace_context, created_at
            )
            values (
                v_lane_id, p_kind, v_priority, v_due_at, case when v_due_at > p_now then 'due' end, v_retries, p_payload,
                coalesce(p_category, 'standard'), p_dedupe_key, p_estimated_bytes,
                coalesce(p_estimated_tokens, 1000), p_trace_context, p_now
            )
            on conflict (dedupe_key) where dedupe_key is not null do nothing
            returning id into job_id;
        end if;
        if job_id is not null then
            outcome := 'created';
            if v_idle_group is not null then
                perform pg_notify('livewell_jobs', v_idle_group);
            end if;
            return next;
            return;
        end if;
    end if;
    return query
    select e.job_id, e.outcome, e.handled
    from livewell.enqueue_jobs(jsonb_build_array(jsonb_build_object(
        'kind', p_kind, 'payload', p_payload, 'priority', p_priority, 'scheduled_at', p_scheduled_at,
        'delay_seconds', p_delay_seconds, 'category', p_category, 'dedupe_key', p_dedupe_key, 'serial_key', p_serial_key,
        'endpoint', p_endpoint, 'estimated_bytes', p_estimated_bytes, 'estimated_tokens', p_estimated_tokens,
        'retries', p_retries, 'trace_context', p_trace_context
    )), p_on_duplicate, p_now) as e;
end $$;
