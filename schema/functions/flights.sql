-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.flights(p_providers text[], p_now timestamp with time zone)
 RETURNS TABLE(provider text, endpoint text, api_key text, calls bigint, bytes numeric)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
end $function$;
