-- A page of a type's catalogue, Livewell's own or the user's, with what is disabled.
-- for: service
create or replace function livewell.list_keys(p_type text, p_after text default null, p_limit integer default 100)
returns table (key text, active boolean, exchange text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_type livewell.data_type;
begin
    perform livewell.require_type(p_type);
    select t.* into strict v_type from livewell.data_type as t where t.name = p_type;
    for key, active, exchange in execute format(
        'select c.key, c.active, c.exchange from (%s) as c where c.key > coalesce($2, '''') order by c.key limit $3',
        livewell.catalogue_query(v_type)
    ) using p_type, p_after, p_limit loop
        return next;
    end loop;
end $$;
