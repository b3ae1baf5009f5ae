-- What is under way at the endpoints of some providers, by endpoint and key: calls that count against concurrency, and bytes
-- reserved that no ledger has yet. Derived from leases, so that nothing can leak: a job counts until it is finished or
-- rescued, a permit until its lease is over; its bytes until they are booked.
-- for: internal
create or replace function livewell.flights(p_providers text[], p_now timestamptz)
returns table (provider text, endpoint text, api_key text, calls bigint, bytes numeric)
language plpgsql stable security definer
set search_path = '' as $$
#variable_conflict use_column
begin
    return query
    select e.provider, j.endpoint, j.api_key, count(*), coalesce(sum(j.reserved_bytes), 0)
    from livewell.endpoint as e join livewell.job_live as j on j.endpoint = e.name and j.state = 'processing'
    where e.provider = any (p_providers)
    group by e.provider, j.endpoint, j.api_key
    union all
    select e.provider, b.endpoint, b.api_key, coalesce(sum(cardinality(b.open)) filter (where b.lease_until > p_now), 0),
        sum(b.bytes * cardinality(b.open))
    from livewell.endpoint as e join livewell.permit_block as b on b.endpoint = e.name
    where e.provider = any (p_providers)
    group by e.provider, b.endpoint, b.api_key;
end $$;
