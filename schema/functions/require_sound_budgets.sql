-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_sound_budgets(p_providers livewell.provider[], p_endpoints livewell.endpoint[], p_keys livewell.api_key[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_first record;
begin
    select s.* into v_first
    from (
        select 1 as rank, 'provider' as thing, n.name, livewell.provider_problem(n) as problem from unnest(p_providers) as n
        union all
        select 2, 'endpoint', n.name, livewell.endpoint_problem(n) from unnest(p_endpoints) as n
        union all
        select 3, 'key', n.provider || '@' || n.name, livewell.api_key_problem(n) from unnest(p_keys) as n
    ) as s
    where s.problem is not null
    order by s.rank, s.name
    limit 1;
    if found then
        perform livewell.refuse_declared('LWB03', v_first.thing, v_first.name, v_first.problem);
    end if;
    perform livewell.require_quota_fits(p.provider, array(
        select n from unnest(p_endpoints) as n where n.provider = (p.provider).name
        union all
        select e from livewell.endpoint as e
        where e.provider = (p.provider).name and e.name not in (select n.name from unnest(p_endpoints) as n)
    ))
    from (
        select n as provider from unnest(p_providers) as n
        union all
        select t from livewell.provider as t
        where t.name in (select n.provider from unnest(p_endpoints) as n)
            and t.name not in (select n.name from unnest(p_providers) as n)
    ) as p
    order by (p.provider).name;
end $function$;
