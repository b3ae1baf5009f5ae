-- What was asked of one thing, as its columns take it: "unlimited" and "off" clear a limit, null is the default again.
-- for: internal
create or replace function livewell_private.budget_asked(p_thing text, p_name text, p_changes jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_limits constant text[] := array[
        'requests_per_minute', 'requests_per_hour', 'tokens_per_minute', 'tokens_per_hour', 'concurrent', 'depth_limit',
        'max_tokens', 'breaker_failures', 'quota_bytes'
    ];
    v_defaults constant jsonb := livewell_private.budget_defaults(p_thing);
    v_unknown text;
begin
    if jsonb_typeof(p_changes) is distinct from 'object' then
        perform livewell_private.refuse_budget(p_thing, p_name, 'what is asked must be a JSON object of its fields');
    end if;
    select f.field into v_unknown from jsonb_object_keys(p_changes) as f (field) where not v_defaults ? f.field limit 1;
    if found then
        perform livewell_private.refuse_budget(
            p_thing, p_name, format('unknown field "%s"', v_unknown),
            'one of ' || (select string_agg(f.field, ', ' order by f.field) from jsonb_object_keys(v_defaults) as f (field))
        );
    end if;
    return coalesce((
        select jsonb_object_agg(c.key, case
            when c.key = any (v_limits) and c.value in ('"unlimited"', '"off"') then jsonb 'null'
            when c.value = 'null' and c.key = 'scope' then to_jsonb(split_part(p_name, '@', 2))
            when c.value = 'null' then v_defaults -> c.key
            else c.value
        end)
        from jsonb_each(p_changes) as c
    ), '{}');
end $$;
