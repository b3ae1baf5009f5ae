-- The operator by which the index of a column finds equal values, to be written between two of them. Types of extensions have their own,
-- which no pinned path finds; by another one the index would not be used.
-- for: internal
create or replace function livewell_private.equality_of(p_table oid, p_column text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return coalesce((
        select format('operator(%I.%s)', n.nspname, o.oprname)
        from pg_catalog.pg_attribute as a
        join pg_catalog.pg_type as t on t.oid = a.atttypid
        join pg_catalog.pg_opclass as c on c.opcintype = coalesce(nullif(t.typbasetype, 0), t.oid) and c.opcdefault
        join pg_catalog.pg_am as m on m.oid = c.opcmethod and m.amname = 'btree'
        join pg_catalog.pg_amop as p
            on p.amopfamily = c.opcfamily and p.amopstrategy = 3 and p.amoplefttype = c.opcintype and p.amoprighttype = c.opcintype
        join pg_catalog.pg_operator as o on o.oid = p.amopopr
        join pg_catalog.pg_namespace as n on n.oid = o.oprnamespace
        where a.attrelid = p_table and a.attname = p_column and n.nspname <> 'pg_catalog'
    ), '=');
end $$;
