-- The active keys of a type's catalogue in their order, after one of them or from the beginning: how a walk goes on. Keys that
-- are none of the type are passed over; a catalogue that cannot be read is warned about and has no keys.
-- for: internal
create or replace function livewell_private.keys_after(
    p_type text, p_after text, p_limit integer, p_now timestamptz default clock_timestamp()
) returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_type livewell_private.data_type;
    v_keys text[];
begin
    perform livewell_private.require_type(p_type);
    select t.* into strict v_type from livewell_private.data_type as t where t.name = p_type;
    begin
        -- Without a first key there is no bound, and the index is read from its beginning.
        v_keys := array(select k.key from jsonb_array_elements_text(livewell_private.ask_catalogue(
            v_type, 'select to_jsonb(array(select distinct c.key from (%s) as c where c.active and '
            || case when p_after is null then '' else 'c.key > $1 ->> ''after'' and ' end
            || livewell_private.key_condition('c.key', '($1 ->> ''pattern'')') || ' order by c.key limit ($1 ->> ''limit'')::bigint))',
            jsonb_build_object('after', p_after, 'pattern', v_type.key_pattern, 'limit', p_limit)
        )) with ordinality as k (key, at) order by k.at);
    exception
        when others then
            perform livewell_private.warn('registry.catalogue_failed', p_type, format('%s: %s', sqlstate, sqlerrm), p_now);
    end;
    return query select k.key from unnest(v_keys) with ordinality as k (key, at) order by k.at;
end $$;
