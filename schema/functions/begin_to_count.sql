-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.begin_to_count(p_providers livewell.provider[], p_endpoints livewell.endpoint[], p_keys livewell.api_key[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    insert into livewell.quota_use (provider)
    select n.name from unnest(p_providers) as n
    order by n.name
    on conflict (provider) do nothing;
    insert into livewell.limit_use (name)
    select n.name from unnest(p_endpoints) as n
    union
    select n.provider || '@' || n.scope from unnest(p_keys) as n
    order by 1
    on conflict (name) do nothing;
end $function$;
