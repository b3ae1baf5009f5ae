-- Why requests, tokens and concurrency cannot be limited so; null when they can.
-- for: internal
create or replace function livewell_private.limits_problem(
    p_requests_per_minute integer, p_requests_per_hour integer, p_tokens_per_minute integer, p_tokens_per_hour integer,
    p_concurrent integer
) returns text
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select l.field || ' must be above 0, or unlimited'
    from (values
        ('requests_per_minute', p_requests_per_minute), ('requests_per_hour', p_requests_per_hour),
        ('tokens_per_minute', p_tokens_per_minute), ('tokens_per_hour', p_tokens_per_hour), ('concurrent', p_concurrent)
    ) as l (field, value)
    where l.value <= 0
    limit 1
$$;
