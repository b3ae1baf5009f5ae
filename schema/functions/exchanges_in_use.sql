-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.exchanges_in_use(p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS SETOF text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_type livewell.data_type;
    v_codes text[] := array[]::text[];
begin
    perform livewell.require_primary();
    for v_type in
        select t.* from livewell.data_type as t where t.enabled and t.gate = 'market_hours' order by t.name
    loop
        begin
            v_codes := v_codes || array(select c.code from jsonb_array_elements_text(livewell.ask_catalogue(
                v_type, 'select to_jsonb(array(select distinct c.exchange from (%s) as c'
                ' where c.active and c.exchange ~ ''^[A-Z0-9]{1,20}$''))', '{}'
            )) as c (code));
        exception
            when others then
                perform livewell.warn('registry.catalogue_failed', v_type.name, format('%s: %s', sqlstate, sqlerrm), p_now);
        end;
        v_codes := v_codes || array(select r.exchange from livewell.exchange_rule as r);
    end loop;
    return query select distinct c.code from unnest(v_codes) as c (code) order by 1;
end $function$;

grant execute on function livewell.exchanges_in_use(timestamp with time zone) to livewell_service;
