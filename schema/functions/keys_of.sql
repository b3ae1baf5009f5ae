-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.keys_of(p_limits livewell.limit_headroom[], p_api_key text DEFAULT NULL::text)
 RETURNS TABLE(provider text, api_key text, key_limit text, requests bigint, tokens bigint, granted bigint)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
    return query
    select distinct on (l.name) k.provider, k.name, l.name, l.requests, l.tokens, k.granted
    from unnest(p_limits) as l
    join livewell.api_key as k on k.provider = l.provider and k.provider || '@' || k.scope = l.name and k.enabled
    where l.kind = 'keys' and (p_api_key is null or k.name = p_api_key)
    order by l.name, k.granted, k.name;
end $function$;
