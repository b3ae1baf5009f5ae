-- Two rounds of one enqueue as one answer.
-- for: internal
create or replace function livewell_private.joined_enqueues(p_one livewell_private.enqueued_jobs, p_two livewell_private.enqueued_jobs)
returns livewell_private.enqueued_jobs
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select row (
        (p_one).positions || (p_two).positions, (p_one).ids || (p_two).ids, (p_one).outcomes || (p_two).outcomes,
        coalesce((p_one).kinds, (p_two).kinds), coalesce((p_one).has_serial_keys, false) or (p_two).has_serial_keys,
        null
    )::livewell_private.enqueued_jobs
$$;
