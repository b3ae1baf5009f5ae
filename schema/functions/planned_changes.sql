-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.planned_changes(p_changes livewell.declared_change[])
 RETURNS TABLE(thing text, name text, change text, field text, old jsonb, new jsonb)
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select c.thing, c.name, c.change, f.field, case when c.change = 'change' then c.old -> f.field end,
        case c.change when 'change' then c.new -> f.field when 'add' then c.new end
    from unnest(p_changes) with ordinality as c (thing, name, change, fields, old, new, place)
    left join lateral unnest(c.fields) with ordinality as f (field, place) on c.change = 'change'
    order by c.place, f.place
$function$;
