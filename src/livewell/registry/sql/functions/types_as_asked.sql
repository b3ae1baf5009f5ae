-- The types a declaration names as they are, as they would be, and what that changes.
-- for: internal
create or replace function livewell_private.types_as_asked(p_asked jsonb, p_now timestamptz)
returns table (type livewell_private.data_type, change livewell_private.declared_change)
language sql
set search_path = pg_catalog, pg_temp as $$
    select n.type, livewell_private.compare_declared(t.thing, a.key, o, n.type)
    from (select livewell_private.declared_type() as thing) as t
    cross join jsonb_each(p_asked) as a
    left join livewell_private.data_type as o on o.name = a.key
    cross join lateral (select livewell_private.type_asked(t.thing, a.key, a.value) as fields) as f
    cross join lateral (
        select livewell_private.implied_type(
            t.thing, o, livewell_private.as_declared(t.thing, o, jsonb_build_object('name', a.key), f.fields, p_now), f.fields
        ) as type
    ) as n
    order by a.key
$$;
