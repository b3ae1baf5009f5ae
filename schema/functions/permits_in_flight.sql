-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.permits_in_flight(p_providers text[], p_now timestamp with time zone)
 RETURNS livewell.endpoint_calls[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return (
        select array_agg(f::livewell.endpoint_calls)
        from (
            select e.provider, e.name as endpoint, b.api_key, k.provider || '@' || k.scope as key_limit,
                coalesce(sum(cardinality(b.open)) filter (where b.lease_until > p_now), 0)::bigint as calls,
                sum(b.bytes * cardinality(b.open))::bigint as bytes
            from livewell.endpoint as e
            join livewell.permit_block as b on b.endpoint = e.name
            left join livewell.api_key as k on k.provider = e.provider and k.name = b.api_key
            where e.provider = any (p_providers)
            group by e.provider, e.name, b.api_key, k.provider, k.scope
        ) as f
    );
end $function$;
