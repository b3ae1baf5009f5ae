-- How many jobs wait at the endpoints of some providers.
-- for: internal
create or replace function livewell_private.jobs_waiting(p_providers text[]) returns livewell_private.endpoint_calls[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(w::livewell_private.endpoint_calls)
        from (
            select split_part(j.endpoint, '/', 1) as provider, j.endpoint, null::text as api_key, null::text as key_limit,
                count(*) as calls, 0::bigint as bytes
            from livewell_private.job_live as j
            where j.endpoint is not null and j.state = 'pending' and split_part(j.endpoint, '/', 1) = any (p_providers)
            group by j.endpoint
        ) as w
    );
end $$;
