-- Why a key cannot be so, in words that name the field and never the source, which may be a key by mistake; null when it can.
-- for: internal
create or replace function livewell_private.api_key_problem(p_key livewell_private.api_key) returns text
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select coalesce(livewell_private.limits_problem(
        (p_key).requests_per_minute, (p_key).requests_per_hour, (p_key).tokens_per_minute, (p_key).tokens_per_hour,
        (p_key).concurrent
    ), case
        when (p_key).name !~ '^[^\s/@]{1,100}$' then 'its name must be 1 to 100 characters without space, / and @'
        when (p_key).scope is null or (p_key).scope !~ '^[^\s/@]{1,100}$'
            then 'scope must be 1 to 100 characters without space, / and @'
        when (p_key).source is null or (p_key).source !~ '^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$'
            then 'source must be env:NAME or file:PATH'
    end)
$$;
