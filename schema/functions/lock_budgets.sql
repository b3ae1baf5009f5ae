-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_budgets(p_endpoints text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_names text[];
    v_providers text[];
begin
    select array_agg(distinct e.provider) into v_providers from livewell.endpoint as e where e.name = any (p_endpoints);
    v_names := array(
        select u.name from livewell.limit_use as u
        where u.name = any (p_endpoints || v_providers || array(
            select k.provider || '@' || k.scope from livewell.api_key as k where k.provider = any (v_providers) and k.enabled
        ))
        order by u.name collate "C"
        for no key update
    );
    perform from livewell.quota_use as q join livewell.provider as p on p.name = q.provider
    where q.provider = any (v_providers) and p.quota_bytes is not null
    order by q.provider
    for no key update of q;
    return v_names;
end $function$;
