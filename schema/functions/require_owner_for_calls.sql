-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_owner_for_calls(p_changes livewell.declared_change[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_first record;
begin
    if livewell.is_owner(livewell.calling_role()) then
        return;
    end if;
    select c.thing, c.name, f.field into v_first
    from unnest(p_changes) as c
    cross join lateral unnest(c.fields) as f (field)
    where c.thing = 'provider' and f.field in ('base_url', 'hosts', 'key_in', 'allow_private')
        or c.thing = 'key' and f.field in ('source')
    order by c.thing, c.name, f.field
    limit 1;
    if found then
        raise exception using errcode = 'LWB06',
            message = format('%s %s: %s is for the owner of the schema to change', v_first.thing, v_first.name, v_first.field),
            detail = format('%s %s', v_first.thing, v_first.name),
            hint = 'livewell apply with a login that was granted livewell_owner; limits, rates and states are yours to tune';
    end if;
end $function$;
