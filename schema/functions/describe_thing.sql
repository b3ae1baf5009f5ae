-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.describe_thing(p_thing text, p_table regclass, p_errcode text, p_kept text[])
 RETURNS livewell.declared_thing
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "IntervalStyle" TO 'postgres'
AS $function$
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
    return row(p_thing, p_table, p_errcode, p_kept, v_defaults)::livewell.declared_thing;
end $function$;
