-- The active keys of a type's catalogue in their order, after one of them or from the beginning: how a walk goes on. Keys that
-- are none of the type are passed over; a catalogue that cannot be read is warned about and has no keys.
-- for: internal
create or replace function livewell.keys_after(
    p_type text, p_after text, p_limit integer, p_now timestamptz default clock_timestamp()
) returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_type livewell.data_type;
    v_keys text[];
begin
    perform livewell.require_type(p_type);
    select t.* into strict v_type from livewell.data_type as t where t.name = p_type;
    begin
        -- Without a first key there is no bound, and the index is read from its beginning.
        execute format(
            'select array(select distinct c.key from (%s) as c where c.active and %s livewell.is_key(c.key, $3) order by c.key limit $4)',
            livewell.catalogue_query(v_type), case when p_after is null then '' else 'c.key > $2 and' end
        ) into v_keys using p_type, p_after, v_type.key_pattern, p_limit;
    exception
        when others then
            perform livewell.warn('registry.catalogue_failed', p_type, format('%s: %s', sqlstate, sqlerrm), p_now);
    end;
    return query select k.key from unnest(v_keys) with ordinality as k (key, at) order by k.at;
end $$;
