-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.jobs_waiting(p_providers text[])
 RETURNS livewell.endpoint_calls[]
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return (
        select array_agg(w::livewell.endpoint_calls)
        from (
            select split_part(j.endpoint, '/', 1) as provider, j.endpoint, null::text as api_key, null::text as key_limit,
                count(*) as calls, 0::bigint as bytes
            from livewell.job_live as j
            where j.endpoint is not null and j.state = 'pending' and split_part(j.endpoint, '/', 1) = any (p_providers)
            group by j.endpoint
        ) as w
    );
end $function$;

grant execute on function livewell.jobs_waiting(text[]) to livewell_service;
