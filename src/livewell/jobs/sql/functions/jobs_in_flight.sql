-- What jobs have under way at the endpoints of some providers, by endpoint and key: calls that count against concurrency, and bytes
-- reserved that no ledger has yet. Derived from leases, so that nothing can leak: a job counts until it is finished or rescued.
-- Jobs are found by their lanes, in one walk through each lane's leases; a bundle is one call as long as one of its jobs runs.
-- for: internal
create or replace function livewell_private.jobs_in_flight(p_providers text[])
returns livewell_private.endpoint_calls[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(f::livewell_private.endpoint_calls)
        from (
            select split_part(l.endpoint, '/', 1) as provider, l.endpoint, j.api_key, k.provider || '@' || k.scope as key_limit,
                j.calls, j.bytes
            from livewell_private.job_lane as l
            cross join lateral (
                select j.api_key, count(*) - count(j.bundle) + case when count(j.bundle) > 0 then (
                    select count(distinct b.bundle) from livewell_private.job_live as b
                    where b.lane_id = l.id and b.lease_token is not null and b.api_key is not distinct from j.api_key
                ) else 0 end as calls, coalesce(sum(j.reserved_bytes), 0)::bigint as bytes
                from livewell_private.job_live as j where j.lane_id = l.id and j.lease_token is not null
                group by j.api_key
            ) as j
            left join livewell_private.api_key as k on k.provider = split_part(l.endpoint, '/', 1) and k.name = j.api_key
            where split_part(l.endpoint, '/', 1) = any (p_providers)
        ) as f
    );
end $$;
