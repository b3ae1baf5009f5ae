-- Refuses a declaration that is not an object of providers, endpoints and keys by name, or that names no known provider.
-- for: internal
create or replace function livewell_private.check_declared_budgets(p_declared jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_stranger text;
begin
    if jsonb_typeof(p_declared) is distinct from 'object' then
        raise exception using errcode = 'LWB03', message = 'what is declared must be a JSON object',
            hint = '{"providers": {…}, "endpoints": {…}, "keys": {…}}';
    end if;
    select d.key into v_stranger from jsonb_each(p_declared) as d
    where d.key not in ('providers', 'endpoints', 'keys') or jsonb_typeof(d.value) <> 'object'
    limit 1;
    if found then
        raise exception using errcode = 'LWB03', message = format('"%s" is not an object of things by name', v_stranger),
            hint = 'declare providers, endpoints and keys';
    end if;
    select n.provider into v_stranger
    from (
        select split_part(e.name, '/', 1) from jsonb_object_keys(p_declared -> 'endpoints') as e (name)
        union all
        select split_part(k.name, '@', 1) from jsonb_object_keys(p_declared -> 'keys') as k (name)
    ) as n (provider)
    where not coalesce(p_declared -> 'providers' ? n.provider, false)
        and not exists (select from livewell_private.provider as p where p.name = n.provider)
    limit 1;
    if found then
        raise exception using errcode = 'LWB04', message = format('unknown provider %s', v_stranger),
            hint = 'livewell providers list';
    end if;
end $$;
