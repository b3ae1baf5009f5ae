-- Renews leases by their tokens; answers per task whether it was renewed, and for how long, or lost.
-- for: service
create or replace function livewell.renew_tasks(
    p_names text[], p_tokens uuid[], p_now timestamptz default clock_timestamp()
) returns table (name text, status text, lease_seconds double precision)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    perform livewell_private.require_primary();
    return query
    with held as materialized (
        select i.name, i.token from unnest(p_names, p_tokens) as i (name, token)
    ),
    renewed as (
        update livewell_private.task as t set lease_until = p_now + t.lease
        from held as h where t.name = h.name and t.lease_token = h.token
        returning t.name, t.lease_token, t.lease
    )
    select h.name, case when r.name is null then 'lost' else 'renewed' end, extract(epoch from r.lease)::double precision
    from held as h left join renewed as r on r.name = h.name and r.lease_token = h.token;
end $$;
