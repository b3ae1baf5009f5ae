-- What was asked of one thing, as its columns take it: "unlimited" and "off" take a limit away, which is a number that may be
-- missing. A key is a scope of its own unless it names another.
-- for: internal
create or replace function livewell_private.budget_asked(p_thing livewell_private.declared_thing, p_name text, p_asked jsonb) returns jsonb
language sql
set search_path = pg_catalog, pg_temp as $$
    select coalesce(jsonb_object_agg(f.key, case
        when f.key = 'scope' and f.value = 'null' then to_jsonb(split_part(p_name, '@', 2))
        when f.value in ('"unlimited"', '"off"') and not c.attnotnull and c.atttypid in ('integer'::regtype, 'bigint'::regtype)
            then jsonb 'null'
        else f.value
    end), '{}')
    from jsonb_each(livewell_private.asked_fields(p_thing, p_name, p_asked)) as f
    join pg_attribute as c on c.attrelid = (p_thing).table_name and c.attname = f.key
$$;
