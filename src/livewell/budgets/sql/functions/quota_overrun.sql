-- How many bytes calls in flight can cost a provider beyond their estimates, at worst: the largest first, each endpoint up to
-- its concurrency, together up to the account's. An estimate learns and may become anything, so the whole cap counts, but
-- where the endpoint expects its cap, which is then always reserved. Null when nothing bounds how many there are.
-- for: internal
create or replace function livewell_private.quota_overrun(p_provider text, p_endpoints livewell_private.endpoint[]) returns numeric
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    with account as (
        select min(e.concurrent) as concurrent from unnest(p_endpoints) as e where e.name = p_provider
    ), excess as (
        select e.name, coalesce(e.concurrent, a.concurrent)::numeric as calls, e.max_bytes::numeric as bytes
        from unnest(p_endpoints) as e cross join account as a
        where e.provider = p_provider and e.max_bytes > e.expected_bytes
    ), ranked as (
        select x.calls, x.bytes, sum(x.calls) over (order by x.bytes desc, x.name) - x.calls as before
        from excess as x
    )
    select case
        when exists (select from excess as x where x.calls is null) then null
        else coalesce((
            select sum(r.bytes * greatest(0, least(r.calls, a.concurrent - r.before)))
            from ranked as r cross join account as a
        ), 0)
    end
$$;
