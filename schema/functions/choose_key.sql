-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.choose_key(p_provider text, p_scopes text[], p_rooms bigint[], p_spent bigint[] DEFAULT NULL::bigint[])
 RETURNS TABLE(api_key text, scope text, room bigint)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
    return query
    select k.name, r.scope, r.room
    from unnest(p_scopes, p_rooms, p_spent) as r (scope, room, spent)
    join livewell.api_key as k on k.provider = p_provider and k.provider || '@' || k.scope = r.scope and k.enabled
    where r.room is null or r.room > 0
    order by r.room desc nulls first, r.spent, k.granted, k.name
    limit 1;
end $function$;
