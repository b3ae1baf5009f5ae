-- The exchanges whose sessions are asked for: none unless a type has the gate market_hours, else those of the rules and of the
-- catalogues of such types.
-- for: service
create or replace function livewell.exchanges_in_use(p_now timestamptz default clock_timestamp()) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_type livewell_private.data_type;
    v_codes text[] := array[]::text[];
begin
    perform livewell_private.require_primary();
    for v_type in
        select t.* from livewell_private.data_type as t where t.enabled and t.gate = 'market_hours' order by t.name
    loop
        begin
            v_codes := v_codes || array(select c.code from jsonb_array_elements_text(livewell_private.ask_catalogue(
                v_type, 'select to_jsonb(array(select distinct c.exchange from (%s) as c'
                ' where c.active and c.exchange ~ ''^[A-Z0-9]{1,20}$''))', '{}'
            )) as c (code));
        exception
            when others then
                perform livewell_private.warn('registry.catalogue_failed', v_type.name, format('%s: %s', sqlstate, sqlerrm), p_now);
        end;
        v_codes := v_codes || array(select r.exchange from livewell_private.exchange_rule as r);
    end loop;
    return query select distinct c.code from unnest(v_codes) as c (code) order by 1;
end $$;
