-- The fields a job to be queued may have.
-- for: internal
create or replace function livewell_private.job_fields() returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select array[
        'kind', 'payload', 'priority', 'scheduled_at', 'delay_seconds', 'category', 'dedupe_key', 'serial_key',
        'endpoint', 'estimated_bytes', 'estimated_tokens', 'retries', 'trace_context'
    ]
$$;
