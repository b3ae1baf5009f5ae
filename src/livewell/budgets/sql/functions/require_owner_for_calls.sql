-- Refuses to anybody but the owner of the schema what decides where workers call and which file or variable of their machine
-- goes along: who may tune a limit may not turn the workers against the machines they run on. A field that stays as it is, or
-- that is nothing in something new, is nobody's change.
-- for: internal
create or replace function livewell_private.require_owner_for_calls(p_providers livewell_private.provider[], p_keys livewell_private.api_key[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_first record;
begin
    if livewell_private.is_owner(livewell_private.calling_role()) then
        return;
    end if;
    select c.thing, c.name, c.field into v_first
    from (
        select 'provider' as thing, n.name, f.field
        from unnest(p_providers) as n
        left join livewell_private.provider as o on o.name = n.name
        cross join lateral (values
            ('base_url', n.base_url is distinct from o.base_url),
            ('hosts', n.hosts is distinct from coalesce(o.hosts, '{}')),
            ('key_in', n.key_in is distinct from o.key_in),
            ('allow_private', n.allow_private is distinct from coalesce(o.allow_private, false))
        ) as f (field, changed)
        where f.changed
        union all
        select 'key', n.provider || '@' || n.name, 'source'
        from unnest(p_keys) as n
        left join livewell_private.api_key as o on o.provider = n.provider and o.name = n.name
        where n.source is distinct from o.source
    ) as c
    order by c.thing, c.name, c.field
    limit 1;
    if found then
        raise exception using errcode = 'LWB06',
            message = format('%s %s: %s is for the owner of the schema to change', v_first.thing, v_first.name, v_first.field),
            detail = format('%s %s', v_first.thing, v_first.name),
            hint = 'livewell apply with a login that was granted livewell_owner; limits, rates and states are yours to tune';
    end if;
end $$;
