-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.exchanges_of(p_type text, p_keys text[], p_now timestamp with time zone)
 RETURNS TABLE(key text, exchange text)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
    v_type livewell.data_type;
    v_listed jsonb;
begin
    select t.* into v_type from livewell.data_type as t where t.name = p_type;
    begin
        if found and (v_type.keys_table is null or v_type.keys_exchange_column is not null) then
            v_listed := livewell.ask_catalogue(
                v_type, 'select jsonb_object_agg(c.key, c.exchange) from (%s) as c where c.key = any ($2) and c.exchange is not null',
                '{}', p_keys
            );
        end if;
    exception
        when others then
            perform livewell.warn('registry.catalogue_failed', p_type, format('%s: %s', sqlstate, sqlerrm), p_now);
    end;
    return query
    select distinct k.key, coalesce(v_listed ->> k.key, r.exchange, o.exchange)
    from unnest(p_keys) as k (key)
    left join livewell.exchange_rule as r on r.suffix = upper(substring(k.key from '\.[A-Za-z0-9]+$'))
    left join livewell.exchange_rule as o on o.suffix = '';
end $function$;
