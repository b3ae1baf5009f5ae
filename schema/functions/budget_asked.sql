-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.budget_asked(p_thing livewell.declared_thing, p_name text, p_asked jsonb)
 RETURNS jsonb
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select coalesce(jsonb_object_agg(f.key, case
        when f.key = 'scope' and f.value = 'null' then to_jsonb(split_part(p_name, '@', 2))
        when f.value in ('"unlimited"', '"off"') and not c.attnotnull and c.atttypid in ('integer'::regtype, 'bigint'::regtype)
            then jsonb 'null'
        else f.value
    end), '{}')
    from jsonb_each(livewell.asked_fields(p_thing, p_name, p_asked)) as f
    join pg_attribute as c on c.attrelid = (p_thing).table_name and c.attname = f.key
$function$;
