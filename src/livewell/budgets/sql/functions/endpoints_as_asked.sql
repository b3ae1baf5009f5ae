-- The endpoints a declaration names as they would be: what is not named stays, what is new begins with the defaults.
-- for: internal
create or replace function livewell_private.endpoints_as_asked(p_asked jsonb, p_now timestamptz) returns setof livewell_private.endpoint
language sql
set search_path = pg_catalog, pg_temp as $$
    select (jsonb_populate_record(
        case when t.name is null then jsonb_populate_record(
            null::livewell_private.endpoint,
            livewell_private.budget_defaults('endpoint')
            || jsonb_build_object('name', d.key, 'provider', split_part(d.key, '/', 1), 'created_at', p_now, 'updated_at', p_now)
        ) else t end,
        livewell_private.budget_asked('endpoint', d.key, d.value)
    )).*
    from jsonb_each(p_asked) as d
    left join livewell_private.endpoint as t on t.name = d.key
    order by d.key
$$;
