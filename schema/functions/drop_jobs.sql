-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.drop_jobs(p_ids bigint[], p_reason text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_serial_keys text[];
begin
    with gone as (
        delete from livewell.job_live as j where j.id = any (p_ids) and j.state = 'pending' returning j.*
    ),
    kept as (
        insert into livewell.job_done (
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
        select from livewell.job_live as r where r.serial_key = g.serial_key and r.state = 'processing'
    );
    if v_serial_keys is not null then
        perform livewell.after_jobs_left(v_serial_keys, null);
    end if;
end $function$;
