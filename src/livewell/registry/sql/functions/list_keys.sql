-- A page of a type's catalogue, Livewell's own or the user's, with what is disabled.
-- for: service
create or replace function livewell.list_keys(p_type text, p_after text default null, p_limit integer default 100)
returns table (key text, active boolean, exchange text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_type livewell_private.data_type;
begin
    perform livewell_private.require_type(p_type);
    select t.* into strict v_type from livewell_private.data_type as t where t.name = p_type;
    return query
    select p.page ->> 0, (p.page ->> 1)::boolean, p.page ->> 2
    from jsonb_array_elements(livewell_private.ask_catalogue(
        v_type, 'select to_jsonb(array(select jsonb_build_array(c.key, c.active, c.exchange) from (%s) as c'
        ' where c.key > coalesce($1 ->> ''after'', '''') order by c.key limit ($1 ->> ''limit'')::bigint))',
        jsonb_build_object('after', p_after, 'limit', p_limit)
    )) with ordinality as p (page, at)
    order by p.at;
end $$;
