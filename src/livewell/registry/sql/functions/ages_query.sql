-- The question for the age of some keys of a type: the newest row of each, and its own TTL where the table has such a column. $1 keys,
-- and of Livewell's own records $2 the type's name. Identifiers are quoted here again, whatever was let into the registry.
-- for: internal
create or replace function livewell_private.ages_query(p_type livewell_private.data_type) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_schema constant text := split_part(p_type.table_name, '.', 1);
    v_table constant text := split_part(p_type.table_name, '.', 2);
    v_types jsonb;
    v_newest text;
begin
    if p_type.table_name is null then
        v_newest := 'select r.fetched_at as newest, r.ttl from livewell_private.record as r where r.data_type = $2 and r.key = k.key limit 1';
    else
        select jsonb_object_agg(a.attname, pg_catalog.format_type(a.atttypid, -1)) into v_types
        from pg_catalog.pg_attribute as a
        where a.attrelid = livewell_private.find_relation(p_type.table_name) and a.attnum > 0 and not a.attisdropped
            and a.attname in (p_type.key_column, p_type.time_column, p_type.ttl_column);
        v_newest := format(
            'select %s as newest, %s as ttl from %I.%I as t where t.%I = k.key::%s order by t.%I desc nulls last limit 1',
            case when v_types ->> p_type.time_column = 'timestamp without time zone'
                then format('t.%I at time zone ''UTC''', p_type.time_column) else format('t.%I', p_type.time_column) end,
            case when p_type.ttl_column is null then 'null::interval'
                when v_types ->> p_type.ttl_column = 'interval' then format('t.%I', p_type.ttl_column)
                else format('t.%I * interval ''1 minute''', p_type.ttl_column) end,
            v_schema, v_table, p_type.key_column, coalesce(v_types ->> p_type.key_column, 'text'), p_type.time_column
        );
    end if;
    return format(
        'select array_agg(k.key) as keys, array_agg(n.newest) as newest, array_agg(n.ttl) as ttls'
        ' from unnest($1) as k (key) left join lateral (%s) as n on true',
        v_newest
    );
end $$;
