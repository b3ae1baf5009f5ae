-- A thing that people declare, for the functions that compare and write it. Every column of its table that is not kept from them
-- is a field; what a field is when nobody says so is the default of the column. The table is named by a function of ours.
-- for: internal
create or replace function livewell_private.describe_thing(p_thing text, p_table regclass, p_errcode text, p_kept text[])
returns livewell_private.declared_thing
language plpgsql stable
set search_path = pg_catalog, pg_temp set intervalstyle = 'postgres' as $$
declare
    v_defaults jsonb;
begin
    execute (
        select format('select to_jsonb(d) from (select %s) as d', string_agg(
            format('%s as %I', coalesce(pg_get_expr(d.adbin, d.adrelid), 'null'), a.attname), ', '
        ))
        from pg_attribute as a left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
    ) into v_defaults;
    return row(p_thing, p_table, p_errcode, p_kept, v_defaults)::livewell_private.declared_thing;
end $$;
