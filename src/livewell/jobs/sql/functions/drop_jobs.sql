-- Ends jobs that wait and that nobody needs any more, as cancelled; the caller holds them. Others of their serial keys go on.
-- for: internal
create or replace function livewell_private.drop_jobs(p_ids bigint[], p_reason text, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_serial_keys text[];
begin
    with gone as (
        delete from livewell_private.job_live as j where j.id = any (p_ids) and j.state = 'pending' returning j.*
    ),
    kept as (
        insert into livewell_private.job_done (
            id, state, lane_id, kind, priority, due_at, attempt, failures, retries, payload, category, dedupe_key, serial_key,
            endpoint, estimated_bytes, estimated_tokens, cancel_reason, trace_context, created_at, finished_at, reason
        )
        select
            g.id, 'cancelled', g.lane_id, g.kind, g.priority, g.due_at, g.attempt, g.failures, g.retries, g.payload, g.category,
            g.dedupe_key, g.serial_key, g.endpoint, g.estimated_bytes, g.estimated_tokens, p_reason, g.trace_context, g.created_at,
            p_now, p_reason
        from gone as g
    )
    select array_agg(distinct g.serial_key) into v_serial_keys
    from gone as g
    where g.serial_key is not null and not exists (
        select from livewell_private.job_live as r where r.serial_key = g.serial_key and r.state = 'processing'
    );
    if v_serial_keys is not null then
        perform livewell_private.after_jobs_left(v_serial_keys, null);
    end if;
end $$;
