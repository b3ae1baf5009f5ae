-- The types a declaration names as they would be: what is not named stays, what is new begins with the defaults.
-- for: internal
create or replace function livewell_private.types_as_asked(p_asked jsonb, p_now timestamptz) returns setof livewell_private.data_type
language sql
set search_path = pg_catalog, pg_temp as $$
    select n.*
    from (select a.key, livewell_private.type_asked(a.key, a.value) as asked from jsonb_each(p_asked) as a) as d
    left join livewell_private.data_type as t on t.name = d.key
    cross join lateral livewell_private.implied_type(t, jsonb_populate_record(
        case when t.name is null then jsonb_populate_record(
            null::livewell_private.data_type,
            livewell_private.type_defaults() || jsonb_build_object('name', d.key, 'created_at', p_now, 'updated_at', p_now)
        ) else t end,
        d.asked
    ), d.asked) as n
    order by d.key
$$;
