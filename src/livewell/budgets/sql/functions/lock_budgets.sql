-- Locks what decides about endpoints: their own use, their accounts', their keys', then their quotas', everybody in this
-- order; answers with the names of the limits that apply. Nothing is counted here: a count belongs into a later statement.
-- for: internal
create or replace function livewell_private.lock_budgets(p_endpoints text[])
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_names text[];
    v_providers text[];
begin
    select array_agg(distinct e.provider) into v_providers from livewell_private.endpoint as e where e.name = any (p_endpoints);
    v_names := array(
        select u.name from livewell_private.limit_use as u
        where u.name = any (p_endpoints || v_providers || array(
            select k.provider || '@' || k.scope from livewell_private.api_key as k where k.provider = any (v_providers) and k.enabled
        ))
        order by u.name collate "C"
        for no key update
    );
    perform from livewell_private.quota_use as q join livewell_private.provider as p on p.name = q.provider
    where q.provider = any (v_providers) and p.quota_bytes is not null
    order by q.provider
    for no key update of q;
    return v_names;
end $$;
