-- Refuses the first provider, endpoint or key that cannot be as asked, and quotas that their endpoints could pass.
-- for: internal
create or replace function livewell_private.require_sound_budgets(
    p_providers livewell_private.provider[], p_endpoints livewell_private.endpoint[], p_keys livewell_private.api_key[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_first record;
begin
    select s.* into v_first
    from (
        select 1 as rank, 'provider' as thing, n.name, livewell_private.provider_problem(n) as problem from unnest(p_providers) as n
        union all
        select 2, 'endpoint', n.name, livewell_private.endpoint_problem(n) from unnest(p_endpoints) as n
        union all
        select 3, 'key', n.provider || '@' || n.name, livewell_private.api_key_problem(n) from unnest(p_keys) as n
    ) as s
    where s.problem is not null
    order by s.rank, s.name
    limit 1;
    if found then
        perform livewell_private.refuse_declared('LWB03', v_first.thing, v_first.name, v_first.problem);
    end if;
    perform livewell_private.require_quota_fits(p.provider, array(
        select n from unnest(p_endpoints) as n where n.provider = (p.provider).name
        union all
        select e from livewell_private.endpoint as e
        where e.provider = (p.provider).name and e.name not in (select n.name from unnest(p_endpoints) as n)
    ))
    from (
        select n as provider from unnest(p_providers) as n
        union all
        select t from livewell_private.provider as t
        where t.name in (select n.provider from unnest(p_endpoints) as n)
            and t.name not in (select n.name from unnest(p_providers) as n)
    ) as p
    order by (p.provider).name;
end $$;
