-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.renew_tasks(p_names text[], p_tokens uuid[], p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(name text, status text, lease_seconds double precision)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
    perform livewell.require_primary();
    return query
    with held as materialized (
        select i.name, i.token from unnest(p_names, p_tokens) as i (name, token)
    ),
    renewed as (
        update livewell.task as t set lease_until = p_now + t.lease
        from held as h where t.name = h.name and t.lease_token = h.token
        returning t.name, t.lease_token, t.lease
    )
    select h.name, case when r.name is null then 'lost' else 'renewed' end, extract(epoch from r.lease)::double precision
    from held as h left join renewed as r on r.name = h.name and r.lease_token = h.token;
end $function$;

grant execute on function livewell.renew_tasks(text[],uuid[],timestamp with time zone) to livewell_service;
