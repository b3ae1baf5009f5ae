-- Changes as a plan tells them: what is added as a whole, what changes field by field.
-- for: internal
create or replace function livewell_private.planned_changes(p_changes livewell_private.declared_change[])
returns table (thing text, name text, change text, field text, old jsonb, new jsonb)
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select c.thing, c.name, c.change, f.field, case when c.change = 'change' then c.old -> f.field end,
        case c.change when 'change' then c.new -> f.field when 'add' then c.new end
    from unnest(p_changes) with ordinality as c (thing, name, change, fields, old, new, place)
    left join lateral unnest(c.fields) with ordinality as f (field, place) on c.change = 'change'
    order by c.place, f.place
$$;
