-- The key a provider's next call should use: of a scope with room, the most room first, then the least used, in this claim
-- and ever; no row when none is left. The room is that of its scope.
-- for: internal
create or replace function livewell_private.choose_key(p_provider text, p_scopes text[], p_rooms bigint[], p_spent bigint[] default null)
returns table (api_key text, scope text, room bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select k.name, r.scope, r.room
    from unnest(p_scopes, p_rooms, p_spent) as r (scope, room, spent)
    join livewell_private.api_key as k on k.provider = p_provider and k.provider || '@' || k.scope = r.scope and k.enabled
    where r.room is null or r.room > 0
    order by r.room desc nulls first, r.spent, k.granted, k.name
    limit 1;
end $$;
