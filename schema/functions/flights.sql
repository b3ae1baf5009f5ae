-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.flights(p_providers text[], p_now timestamp with time zone)
 RETURNS livewell.flight[]
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    return array(
        select row (e.provider, e.name, j.api_key, j.calls, j.bytes)::livewell.flight
        from livewell.endpoint as e
        cross join lateral (
            select j.api_key, count(*) as calls, coalesce(sum(j.reserved_bytes), 0)::bigint as bytes
            from livewell.job_live as j where j.endpoint = e.name and j.state = 'processing'
            group by j.api_key
        ) as j
        where e.provider = any (p_providers)
        union all
        select row (e.provider, e.name, b.api_key, coalesce(sum(cardinality(b.open)) filter (where b.lease_until > p_now), 0),
            sum(b.bytes * cardinality(b.open))::bigint)::livewell.flight
        from livewell.endpoint as e join livewell.permit_block as b on b.endpoint = e.name
        where e.provider = any (p_providers)
        group by e.provider, e.name, b.api_key
    );
end $function$;
