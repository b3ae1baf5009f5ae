-- The positions, from 1, of what could not be imported as keys of a type: no key by its pattern, or no code of an exchange.
-- for: service
create or replace function livewell.strange_keys(p_type text, p_keys text[], p_exchanges text[] default null) returns setof integer
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_type constant livewell_private.data_type := livewell_private.require_own_catalogue(p_type);
begin
    return query
    select k.at::integer
    from unnest(p_keys, p_exchanges) with ordinality as k (key, exchange, at)
    where not livewell_private.is_key(k.key, v_type.key_pattern) or k.exchange !~ '^[A-Z0-9]{1,20}$'
    order by k.at;
end $$;
