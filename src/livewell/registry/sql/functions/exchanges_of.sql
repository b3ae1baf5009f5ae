-- The exchange of each key: what the type's catalogue says, else the rule for what follows the key's last point, else the rule
-- for all others. A catalogue that cannot be read is warned about, and the rules decide.
-- for: internal
create or replace function livewell_private.exchanges_of(p_type text, p_keys text[], p_now timestamptz)
returns table (key text, exchange text)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_type livewell_private.data_type;
    v_listed jsonb;
begin
    select t.* into v_type from livewell_private.data_type as t where t.name = p_type;
    begin
        if found and (v_type.keys_table is null or v_type.keys_exchange_column is not null) then
            v_listed := livewell_private.ask_catalogue(
                v_type, 'select jsonb_object_agg(c.key, c.exchange) from (%s) as c where c.key = any ($2) and c.exchange is not null',
                '{}', p_keys
            );
        end if;
    exception
        when others then
            perform livewell_private.warn('registry.catalogue_failed', p_type, format('%s: %s', sqlstate, sqlerrm), p_now);
    end;
    return query
    select distinct k.key, coalesce(v_listed ->> k.key, r.exchange, o.exchange)
    from unnest(p_keys) as k (key)
    left join livewell_private.exchange_rule as r on r.suffix = upper(substring(k.key from '\.[A-Za-z0-9]+$'))
    left join livewell_private.exchange_rule as o on o.suffix = '';
end $$;
