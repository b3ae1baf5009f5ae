-- The keys a declaration names (as provider@name) as they would be; a new key is a scope of its own unless it names one.
-- for: internal
create or replace function livewell_private.api_keys_as_asked(p_asked jsonb, p_now timestamptz) returns setof livewell_private.api_key
language sql
set search_path = pg_catalog, pg_temp as $$
    select (jsonb_populate_record(
        case when t.name is null then jsonb_populate_record(
            null::livewell_private.api_key,
            livewell_private.budget_defaults('key')
            || jsonb_build_object(
                'provider', split_part(d.key, '@', 1), 'name', split_part(d.key, '@', 2), 'scope', split_part(d.key, '@', 2),
                'granted', 0, 'created_at', p_now, 'updated_at', p_now
            )
        ) else t end,
        livewell_private.budget_asked('key', d.key, d.value)
    )).*
    from jsonb_each(p_asked) as d
    left join livewell_private.api_key as t on t.provider = split_part(d.key, '@', 1) and t.name = split_part(d.key, '@', 2)
    order by d.key
$$;
