-- The providers a declaration names as they would be: what is not named stays, what is new begins with the defaults.
-- for: internal
create or replace function livewell_private.providers_as_asked(p_asked jsonb, p_now timestamptz) returns setof livewell_private.provider
language sql
set search_path = pg_catalog, pg_temp as $$
    select (jsonb_populate_record(
        case when t.name is null then jsonb_populate_record(
            null::livewell_private.provider,
            livewell_private.budget_defaults('provider')
            || jsonb_build_object('name', d.key, 'created_at', p_now, 'updated_at', p_now)
        ) else t end,
        livewell_private.budget_asked('provider', d.key, d.value)
    )).*
    from jsonb_each(p_asked) as d
    left join livewell_private.provider as t on t.name = d.key
    order by d.key
$$;
