-- Two rounds of one enqueue as one answer.
-- for: internal
create or replace function livewell.joined_enqueues(p_one livewell.enqueued_jobs, p_two livewell.enqueued_jobs)
returns livewell.enqueued_jobs
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select row (
        (p_one).positions || (p_two).positions, (p_one).ids || (p_two).ids, (p_one).outcomes || (p_two).outcomes,
        coalesce((p_one).kinds, (p_two).kinds), coalesce((p_one).has_serial_keys, false) or (p_two).has_serial_keys,
        null
    )::livewell.enqueued_jobs
$$;
