-- Refuses to anybody but the owner of the schema what decides where workers call and which file or variable of their machine
-- goes along: who may tune a limit may not turn the workers against the machines they run on. A field that stays as it is, or
-- that is the default of something new, is nobody's change.
-- for: internal
create or replace function livewell_private.require_owner_for_calls(p_changes livewell_private.declared_change[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_first record;
begin
    if livewell_private.is_owner(livewell_private.calling_role()) then
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
end $$;
