-- Writes rows of a thing as they shall be: new ones whole, of others only the fields, and only where one differs.
-- for: internal
create or replace function livewell_private.write_declared(p_thing livewell_private.declared_thing, p_rows anyarray, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    execute (
        select format(
            'insert into %s as t select r.* from unnest($1) as r on conflict on constraint %I do update set %s, updated_at = $2'
            ' where row(%s) is distinct from row(%s)',
            p_thing.table_name, k.conname, string_agg(format('%1$I = excluded.%1$I', f.field), ', '),
            string_agg(format('t.%I', f.field), ', '), string_agg(format('excluded.%I', f.field), ', ')
        )
        from pg_constraint as k cross join jsonb_object_keys(p_thing.defaults - p_thing.kept) as f (field)
        where k.conrelid = p_thing.table_name and k.contype = 'p'
        group by k.conname
    ) using p_rows, p_now;
end $$;
