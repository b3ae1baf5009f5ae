-- The statement by which viewers read the table of a type that leaves it to row-level security who sees a row, run by their own role:
-- $1 keys, $2 how many rows of each at most. It finds nothing where row-level security does not hold for who runs it. Null for a type
-- that is read by `livewell.read_values`.
-- for: user, anon
create or replace function livewell.reading_statement(p_type text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_type record;
begin
    select t.read_rule, t.table_name into v_type from livewell_private.known_types as t where t.name = p_type;
    if v_type.read_rule is distinct from 'rls' then
        perform livewell_private.require_reader(p_type, livewell_private.calling_role(), false);
        return null;
    end if;
    perform livewell_private.require_readable_table(p_type);
    return format(
        'select v.key, v.value::text from (%s) as a (keys, stored, times)'
        ' cross join lateral unnest(a.keys, a.stored) as v (key, value)'
        ' where pg_catalog.row_security_active(%L::pg_catalog.regclass)',
        livewell_private.reading_query(livewell_private.type_named(p_type)),
        format('%I.%I', split_part(v_type.table_name, '.', 1), split_part(v_type.table_name, '.', 2))
    );
end $$;
