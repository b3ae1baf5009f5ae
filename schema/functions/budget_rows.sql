-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.budget_rows(p_providers livewell.provider[], p_endpoints livewell.endpoint[], p_keys livewell.api_key[])
 RETURNS TABLE(rank integer, thing text, name text, content jsonb)
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select 1, 'provider', n.name, to_jsonb(n) - '{name,created_at,updated_at}'::text[] from unnest(p_providers) as n
    union all
    select 2, 'endpoint', n.name, to_jsonb(n) - '{name,provider,created_at,updated_at}'::text[] from unnest(p_endpoints) as n
    union all
    select 3, 'key', n.provider || '@' || n.name, to_jsonb(n) - '{provider,name,granted,created_at,updated_at}'::text[]
    from unnest(p_keys) as n
$function$;
