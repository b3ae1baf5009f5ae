-- The providers whose limits some names are: of endpoints, accounts and scopes of keys.
-- for: internal
create or replace function livewell_private.providers_of(p_names text[]) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    if cardinality(p_names) = 1 then
        return array[split_part(split_part(p_names[1], '/', 1), '@', 1)];
    end if;
    return array(select distinct split_part(split_part(n.name, '/', 1), '@', 1) from unnest(p_names) as n (name));
end $$;
