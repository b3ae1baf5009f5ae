-- What is under way at the endpoints of some providers, by endpoint and key: calls that count against concurrency, and bytes
-- reserved that no ledger has yet. Derived from leases, so that nothing can leak: a job counts until it is finished or
-- rescued, a permit until its lease is over; its bytes until they are booked. Jobs are found by their lanes, in one walk
-- through each lane's leases; a bundle is one call as long as one of its jobs runs.
-- for: internal
create or replace function livewell_private.flights(p_providers text[], p_now timestamptz)
returns livewell_private.flight[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return array(
        select row (split_part(l.endpoint, '/', 1), l.endpoint, j.api_key, j.calls, j.bytes)::livewell_private.flight
        from livewell_private.job_lane as l
        cross join lateral (
            select j.api_key, count(*) - count(j.bundle) + case when count(j.bundle) > 0 then (
                select count(distinct b.bundle) from livewell_private.job_live as b
                where b.lane_id = l.id and b.state = 'processing' and b.api_key is not distinct from j.api_key
            ) else 0 end as calls, coalesce(sum(j.reserved_bytes), 0)::bigint as bytes
            from livewell_private.job_live as j where j.lane_id = l.id and j.state = 'processing'
            group by j.api_key
        ) as j
        where split_part(l.endpoint, '/', 1) = any (p_providers)
        union all
        select row (split_part(b.endpoint, '/', 1), b.endpoint, b.api_key,
            coalesce(sum(cardinality(b.open)) filter (where b.lease_until > p_now), 0),
            sum(b.bytes * cardinality(b.open))::bigint)::livewell_private.flight
        from livewell_private.permit_block as b
        where b.endpoint = any (array(select e.name from livewell_private.endpoint as e where e.provider = any (p_providers)))
        group by b.endpoint, b.api_key
    );
end $$;
