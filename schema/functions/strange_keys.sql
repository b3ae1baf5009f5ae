-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.strange_keys(p_type text, p_keys text[], p_exchanges text[] DEFAULT NULL::text[])
 RETURNS SETOF integer
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_type constant livewell.data_type := livewell.require_own_catalogue(p_type);
begin
    return query
    select k.at::integer
    from unnest(p_keys, p_exchanges) with ordinality as k (key, exchange, at)
    where not livewell.is_key(k.key, v_type.key_pattern) or k.exchange !~ '^[A-Z0-9]{1,20}$'
    order by k.at;
end $function$;

grant execute on function livewell.strange_keys(text,text[],text[]) to livewell_service;
