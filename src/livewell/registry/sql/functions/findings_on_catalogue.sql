-- What is wrong with the table of keys of a type: the table, the type of its columns, and keys that are none of the type.
-- for: internal
create or replace function livewell_private.findings_on_catalogue(p_type livewell_private.data_type)
returns table (severity text, problem text, message text, fix text)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_strange text;
begin
    return query select f.* from livewell_private.findings_on_relation(
        p_type.keys_table, array[p_type.keys_key_column, p_type.keys_active_column, p_type.keys_exchange_column]
    ) as f;
    if found then
        return;
    end if;
    if exists (
        select from pg_catalog.pg_attribute as a
        where a.attrelid = livewell_private.find_relation(p_type.keys_table) and a.attname = p_type.keys_active_column
            and not a.attisdropped and a.atttypid <> 'boolean'::regtype
    ) then
        return query select 'error', 'column_type', format('%s of %s is not boolean', p_type.keys_active_column, p_type.keys_table),
            'keys.active says whether a key is refreshed';
        return;
    end if;
    perform livewell_private.require_foreign('ask_foreign');
    v_strange := livewell_private.ask_foreign(format(
        'select to_jsonb(k.key) from (select t.%I::text as key from %I.%I as t limit 10000) as k where not '
        || livewell_private.key_condition('k.key', '($1 ->> 0)') || ' limit 1',
        p_type.keys_key_column, split_part(p_type.keys_table, '.', 1), split_part(p_type.keys_table, '.', 2)
    ), jsonb_build_array(p_type.key_pattern)) #>> '{}';
    if v_strange is not null then
        return query select 'warning', 'strange_key', format('%s has keys that are none, as %L', p_type.keys_table, left(v_strange, 100)),
            'they are passed over; key_pattern says what a key is';
    end if;
end $$;
