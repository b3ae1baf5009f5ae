-- The keys, each of its type, that are not in the catalogue of a type which takes known keys only; in the catalogue is also what is
-- disabled there. Refuses all when a catalogue cannot be read: it knows no key.
-- for: internal
create or replace function livewell_private.unknown_keys(p_types text[], p_keys text[]) returns table (data_type text, key text)
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_hashjoin = on as $$
#variable_conflict use_column
declare
    v_type livewell_private.data_type;
begin
    for v_type in
        select t.* from livewell_private.data_type as t where t.keys_only_known and t.name = any (p_types) order by t.name
    loop
        begin
            return query
            select v_type.name, k.key
            from jsonb_array_elements_text(livewell_private.ask_catalogue(
                v_type, 'select coalesce(jsonb_agg(k.key order by k.key), ''[]'') from (select distinct k.key from unnest($2) as k (key)) as k'
                ' where not exists (select from (%s) as c where c.key = k.key)',
                '{}', array(select a.key from unnest(p_types, p_keys) as a (data_type, key) where a.data_type = v_type.name)
            )) with ordinality as k (key, at) order by k.at;
        exception
            when undefined_table or undefined_column or insufficient_privilege or invalid_schema_name then
                raise exception using errcode = 'LWR07', message = format('the keys of type %s cannot be looked up', v_type.name),
                    hint = format('livewell types check %s', v_type.name);
        end;
    end loop;
end $$;
