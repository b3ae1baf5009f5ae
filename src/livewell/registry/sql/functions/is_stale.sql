-- Whether something fetched then is older than its TTL now. What was never fetched is stale. The TTL has no default: the registry
-- is the only place it comes from, and one that is missing or not positive is an error, not an answer.
-- for: service
create or replace function livewell.is_stale(p_fetched_at timestamptz, p_ttl interval, p_now timestamptz) returns boolean
language plpgsql immutable security definer
set search_path = pg_catalog, pg_temp as $$
begin
    if p_ttl is null or p_ttl <= interval '0' then
        raise exception using errcode = 'LWR02', message = format('a TTL is a positive time, not %s', coalesce(p_ttl::text, 'null')),
            hint = 'set it in the registry, or in the row that overrides it';
    end if;
    return p_fetched_at is null or p_fetched_at + p_ttl <= p_now;
end $$;
