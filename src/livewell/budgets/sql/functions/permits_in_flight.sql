-- The permits in use at the endpoints of some providers, by endpoint and key: each counts until its lease is over, its bytes until
-- they are booked.
-- for: internal
create or replace function livewell_private.permits_in_flight(p_providers text[], p_now timestamptz)
returns livewell_private.endpoint_calls[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(f::livewell_private.endpoint_calls)
        from (
            select e.provider, e.name as endpoint, b.api_key, k.provider || '@' || k.scope as key_limit,
                coalesce(sum(cardinality(b.open)) filter (where b.lease_until > p_now), 0)::bigint as calls,
                sum(b.bytes * cardinality(b.open))::bigint as bytes
            from livewell_private.endpoint as e
            join livewell_private.permit_block as b on b.endpoint = e.name
            left join livewell_private.api_key as k on k.provider = e.provider and k.name = b.api_key
            where e.provider = any (p_providers)
            group by e.provider, e.name, b.api_key, k.provider, k.scope
        ) as f
    );
end $$;
